"""Accuracy by depth: Table 4 as a picture."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.panels import Panel
from ppro.paper.render import TableEntry, entries
from ppro.paper.store import Store
from ppro.paper.tables import depth
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLOSE = 10.0
"""Points that the lower panels show."""
FEWEST = 2
"""Depths of a method that make a line."""

_TEXT = (
    "Test accuracy in percent, mean over the runs, of networks of 2 to 64 steps, each with the "
    "settings that a search chose for its depth; bars: standard deviation of PPro and its "
    f"backbone. Below, the uppermost {CLOSE:.0f} points again. The numbers are in Table 4."
)
_LOOKS: dict[str, dict[str, Any]] = {
    "gcn": {"marker": "v", "linestyle": ":"},
    "jknet": {"marker": "<", "linestyle": "-."},
    "jknet-drop": {"marker": ">", "linestyle": "-."},
    "gcnii": {"marker": "D", "linestyle": "--", "markersize": 3.5},
    "gcnii-star": {"marker": "*", "linestyle": "--", "markersize": 6},
    "appnp-none": {"marker": "^", "linestyle": "-", "color": "black", "linewidth": 1.1},
}
_OTHERS = {"marker": "x", "linestyle": ":"}


def draw(store: Store) -> Drawing | None:
    """Draw one panel for each graph, as soon as some method has two depths to compare."""
    table = depth()
    found = [entries(panel, store) for panel in table.panels]
    if all(depths < FEWEST for by_place in found for depths in _depths(by_place).values()):
        return None
    count = len(table.panels)
    figure, axes = style.panels(2, count, 4.4, sharex=True)
    for i, (panel, by_place) in enumerate(zip(table.panels, found, strict=True)):
        above, below = axes[i], axes[count + i]
        measured = any(entry.result for entry in by_place.values())
        for place in (above, below):
            for row in panel.rows:
                _line(place, panel, row, by_place)
            if not measured:
                style.not_measured(place)
        above.set_title(panel.title.split(",")[0])
        _close_up(below, by_place)
        _steps_axis(below, panel)
    for place in (axes[0], axes[count]):
        place.set_ylabel("test accuracy, %")
    style.legend_below(figure, 4)
    return Drawing(figure, _TEXT)


def _depths(by_place: dict[tuple[str, str], TableEntry]) -> Counter[str]:
    """Return the number of depths that are measured, by method."""
    return Counter(row for (row, _), entry in by_place.items() if entry.result is not None)


def _close_up(axes: Axes, by_place: dict[tuple[str, str], TableEntry]) -> None:
    means = [entry.result["test_mean"] for entry in by_place.values() if entry.result is not None]
    if means:
        axes.set_ylim(max(means) - CLOSE, max(means) + 1.5)


def _steps_axis(axes: Axes, panel: Panel) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks([int(c.heading) for c in panel.columns], [c.heading for c in panel.columns])
    axes.set_xlabel("number of steps")


def _line(axes: Axes, panel: Panel, row: str, by_place: dict[tuple[str, str], TableEntry]) -> None:
    known = {
        int(column.heading): entry.result
        for column in panel.columns
        if (entry := by_place[row, column.heading]).result is not None
    }
    if not known:
        return
    ours = row in style.SERIES
    rival = {"color": style.GREY, "linewidth": 1.0, **_LOOKS.get(row, _OTHERS)}
    look = style.SERIES[row] if ours else rival
    emphasis = {"zorder": 3, "linewidth": 1.8} if ours else {"zorder": 2}
    means = [record["test_mean"] for record in known.values()]
    spreads = [record["test_std"] for record in known.values()]
    barred = ours or row == "appnp-none"
    axes.errorbar(
        list(known),
        means,
        yerr=spreads if barred else None,
        label=find_method(row).title,
        elinewidth=0.8,
        **{**emphasis, **look},
    )


DEPTH = FigureSpec("depth-figure", "Accuracy by depth", list, draw, table=depth)
