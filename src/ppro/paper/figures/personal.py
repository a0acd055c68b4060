"""Personal steps against the best fixed depth: the difference on every graph, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppro.paper.entrants import Arena
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.personal import STRATEGIES, Duel, arenas, duel, experiments, noisy_arenas
from ppro.paper.store import Store
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TEXT = (
    "Test accuracy less that of the best fixed depth, in points, paired over seeds and splits; "
    "bars: two standard errors. A filled mark is the strategy that validation chose. The numbers "
    "are in [the table](#personal-steps-against-the-best-fixed-depth)."
)
_OFFSETS = {"l2b": -0.16, "l2u": 0.16}


def draw(store: Store, where: Sequence[Arena] | None = None) -> Drawing | None:
    """Draw a row for each graph that is measured."""
    all_arenas = (*arenas(), *noisy_arenas()) if where is None else where
    found = [one for arena in all_arenas if (one := duel(arena, store)) is not None]
    if not found:
        return None
    figure, (panel,) = style.panels(1, 1, 0.9 + 0.26 * len(found))
    panel.axvline(0, color="black", linewidth=0.8, zorder=1)
    for name in STRATEGIES:
        for chosen in (True, False):
            _series(panel, found, name, chosen)
    panel.set_yticks(range(len(found)), [one.arena.title for one in found])
    panel.set_ylim(len(found) - 0.5, -0.5)
    panel.set_xlabel("difference from the best fixed depth, points")
    style.legend_below(figure, 2)
    return Drawing(figure, _TEXT)


def _series(panel: Axes, found: Sequence[Duel], name: str, chosen: bool) -> None:
    """Draw a strategy where it was chosen, or where it was not."""
    rows = [
        (row, compared)
        for row, one in enumerate(found)
        if (one.better is one.both[name]) == chosen
        and (compared := one.both[name].against(one.fixed)) is not None
    ]
    if not rows:
        return
    look = style.SERIES[name]
    color = look["color"] if chosen else style.GREY
    panel.errorbar(
        [compared.difference for _, compared in rows],
        [row + _OFFSETS[name] for row, _ in rows],
        xerr=[2 * compared.standard_error for _, compared in rows],
        label=f"{find_method(name).title}{', chosen' if chosen else ', not chosen'}",
        marker=look["marker"],
        color=color,
        markerfacecolor=color if chosen else "white",
        linestyle="none",
        elinewidth=1.0,
        zorder=3 if chosen else 2,
    )


PERSONAL = FigureSpec(
    "personal-figure",
    "Personal steps against the best fixed depth, as a picture",
    list,
    draw,
    works=experiments,
)
