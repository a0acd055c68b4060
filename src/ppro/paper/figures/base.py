"""A figure: the runs that it needs, and how it is drawn from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppro.paper.cells import Cell
from ppro.paper.experiment import Plan, Work
from ppro.paper.panels import Table
from ppro.paper.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure as it came out.

    Args:
        text: what a reader must know, and the numbers behind the picture, as Markdown.
    """

    figure: Figure
    text: str


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the paper, or one of ours.

    Args:
        name: what the command calls it.
        cells: the runs that it needs.
        draw: makes it from result files; None where nothing is measured yet.
        table: a table whose cells it shows, if it shows one.
        works: what else it rests on.
    """

    name: str
    title: str
    cells: Callable[[], list[Cell]]
    draw: Callable[[Store], Drawing | None]
    table: Callable[[], Table] | None = None
    works: Callable[[Plan], Sequence[Work]] | None = None
