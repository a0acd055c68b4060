"""A figure: the runs that it needs, and how it is drawn from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppro.data import dataset_info
from ppro.data.names import PUBLIC, RANDOM
from ppro.paper.figures.work import Work
from ppro.paper.store import Store
from ppro.paper.tables import Table

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
        works: the runs that it needs.
        draw: makes it from result files; None where nothing is measured yet.
        table: a table whose cells it shows, if it shows one.
    """

    name: str
    title: str
    works: Callable[[], list[Work]]
    draw: Callable[[Store], Drawing | None]
    table: Callable[[], Table] | None = None


def protocol(dataset: str) -> str:
    """The split of the paper."""
    return PUBLIC if PUBLIC in dataset_info(dataset).splits else RANDOM


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
