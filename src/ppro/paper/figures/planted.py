"""Learned against planted depth: the steps of deep and of shallow nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ppro.paper import entrants
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.planted import POINTS, STRATEGIES, TEACHINGS, Point, experiments, strategy
from ppro.paper.store import Store
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = POINTS[:2]
"""The usual graph, in both forms of the backbone."""
_TEXT = (
    "Shares of the nodes of either type at each step, mean over the runs, on the usual graph of "
    "[planted depths](#planted-depths). Deep nodes want several steps, shallow ones none. Above, "
    "controllers that compare steps; below, as the paper teaches them. The marks on top are the "
    "mean steps."
)
_NAMES = {"compare": "comparing", "paper": "as the paper"}
_TYPES: dict[str, dict[str, Any]] = {
    "deep": {"color": style.BLUE, "offset": -0.2},
    "shallow": {"color": style.ORANGE, "offset": 0.2, "hatch": "////", "fill": False},
}


def draw(store: Store) -> Drawing | None:
    """Draw a row of panels for each teaching, and a column for each strategy and form."""
    columns = [(point, name) for point in SHOWN for name in STRATEGIES]
    found = {
        (teaching, point.form, name): _record(point, name, teaching, store)
        for teaching in TEACHINGS
        for point, name in columns
    }
    if not any(found.values()):
        return None
    figure, axes = style.panels(len(TEACHINGS), len(columns), 3.4, sharex=True, sharey=True)
    panels = iter(axes)
    for row, teaching in enumerate(TEACHINGS):
        for column, (point, name) in enumerate(columns):
            panel = next(panels)
            _panel(panel, found[teaching, point.form, name])
            if row == 0:
                panel.set_title(f"{find_method(name).title}, {point.form} form")
            if row == len(TEACHINGS) - 1:
                panel.set_xlabel("step")
            if column == 0:
                panel.set_ylabel(f"{_NAMES[teaching]}\nshare of the nodes")
    style.legend_below(figure, len(_TYPES))
    return Drawing(figure, _TEXT)


def _record(point: Point, name: str, teaching: str, store: Store) -> Mapping[str, Any] | None:
    found = entrants.reached(point.arena, strategy(point.form, name, teaching), store)
    return None if found is None else found.record


def _panel(panel: Axes, record: Mapping[str, Any] | None) -> None:
    panel.set_ylim(0, 1.12)
    panel.set_yticks([0, 0.5, 1])
    panel.grid(visible=False, axis="x")
    if record is None:
        style.not_measured(panel)
        return
    for kind, look in _TYPES.items():
        shares = record[kind]["step_shares"]
        places = [step + look["offset"] for step in range(len(shares))]
        bars = {key: value for key, value in look.items() if key not in ("offset", "color")}
        color = look["color"]
        panel.bar(places, shares, 0.4, label=f"{kind} nodes", color=color, edgecolor=color, **bars)
        mean = sum(record[kind]["mean_step"]) / len(record[kind]["mean_step"])
        panel.plot(
            [mean], [1.07], marker="v", color=color, linestyle="none", clip_on=False, **_mark(kind)
        )
    panel.set_xticks(range(0, len(shares), 2))


def _mark(kind: str) -> dict[str, Any]:
    return {} if kind == "deep" else {"markerfacecolor": "white"}


PLANTED = FigureSpec(
    "planted-figure", "Learned against planted depth", list, draw, works=experiments
)
