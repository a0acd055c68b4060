"""What a table is made of: panels, their columns and rows, and the paper's numbers beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppro.paper.cells import Cell
from ppro.search.offers import USUAL, Offer

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class PaperNumber:
    """An accuracy of the paper, with its standard deviation where it prints one."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of a panel: a dataset, a split, what is changed in its cells and what is offered."""

    heading: str
    dataset: str
    split: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    offer: Offer = USUAL


@dataclass(frozen=True)
class Panel:
    """A table, or one part of it that has the same columns.

    Args:
        rows: names of methods, in order.
        paper: the paper's number by method and heading.
        left_out: cells that the paper leaves empty, and that stay empty here.
        pairs: methods to compare run by run: PPro and its own backbone.
        studied: whether validation accuracies and the use of the steps are shown as well.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[str]
    paper: Mapping[tuple[str, str], PaperNumber]
    left_out: frozenset[tuple[str, str]] = frozenset()
    pairs: Pairs = ()
    studied: bool = False

    def cell(self, row: str, column: Column) -> Cell | None:
        """Return what stands in a place, or None where nothing does."""
        if (row, column.heading) in self.left_out:
            return None
        return Cell(column.dataset, column.split, row, column.changes, offer=column.offer)

    def cells(self) -> list[Cell]:
        """Return all of them."""
        found = [self.cell(row, column) for row in self.rows for column in self.columns]
        return [cell for cell in found if cell is not None]


@dataclass(frozen=True)
class Table:
    """A table of the paper.

    Args:
        note: what a reader must know before its numbers.
    """

    name: str
    title: str
    panels: Sequence[Panel]
    note: str = ""

    def cells(self) -> list[Cell]:
        """Return all cells of all panels, each once."""
        found = {cell.place: cell for panel in self.panels for cell in panel.cells()}
        return list(found.values())
