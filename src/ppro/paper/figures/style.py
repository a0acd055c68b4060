"""How figures look: readable in print and in grey, where marks, lines and shades carry the colour.

Matplotlib is imported when a figure is drawn: the rest of the package does without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ppro.errors import RunError
from ppro.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#17457f", "#d9822b", "#5a9a6e", "#8a8a8a"

SERIES: dict[str, dict[str, Any]] = {
    "l2b": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "l2u": {"color": ORANGE, "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
}
"""The two strategies: apart by mark, line and brightness, not by colour alone."""

WIDE = 7.2
"""Inches across two columns of a page."""

GAP = 0.07
"""Inches on either side of a panel."""

_LOOK: dict[Any, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2,
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,
}


@contextmanager
def look() -> Iterator[None]:
    """Inside it matplotlib draws in the look of these figures.

    Raises:
        RunError: there is no matplotlib.
    """
    try:
        import matplotlib
    except ImportError:
        raise RunError(
            "drawing needs matplotlib; install it with: pip install 'ppro[plots]'"
        ) from None
    with matplotlib.rc_context(_LOOK):
        yield


def panels(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure as wide as a page, and its panels row by row."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(WIDE, height), layout=ConstrainedLayoutEngine(w_pad=GAP))
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(grid.flat)


def not_measured(axes: Axes, values: Literal["x", "y"] = "y") -> None:
    """Say in a panel that there is nothing to show yet.

    Args:
        values: the axis of what is measured; its numbers would mean nothing.
    """
    axes.tick_params(axis=values, labelleft=False, labelbottom=False)
    axes.text(0.5, 0.5, "not measured yet", ha="center", va="center", transform=axes.transAxes)


def legend_below(figure: Figure, columns: int) -> None:
    """One legend below the panels, of what any of them shows."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    if found:
        figure.legend(found.values(), found, loc="outside lower center", ncols=columns)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and PDF; the same results give the same bytes."""
    made = []
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        path = folder / f"{name}.{kind}"
        with whole_file(path) as part:
            figure.savefig(part, format=kind, dpi=200, metadata=metadata)
        made.append(path)
    return made
