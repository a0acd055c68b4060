"""What the searches behind the tables chose, cell by cell."""

from collections.abc import Mapping
from typing import Any

from ppro.data import kind_of
from ppro.files import markdown_table
from ppro.paper.cells import Cell
from ppro.paper.panels import Table
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from ppro.search.methods import find_method

TITLE = "What the searches chose"
SHOWN = ("homophilous", "heterophilous", "backbones", "depth", "l2p", "beyond", "design", "actor")
"""The tables whose cells rest on a search of their own."""
_TEXT = (
    "For every cell of the tables: the settings that its search chose, of those that it was "
    "offered ([API](api/training.md) explains them). All others have their defaults, or are what "
    "makes the method."
)
_HEAD = ("method", "on", "chosen")


def markdown(store: Store) -> str:
    """Return the chosen settings of all tables."""
    parts = [f"## {TITLE}", _TEXT]
    for name in SHOWN:
        parts += _of_table(TABLES[name](), store)
    return "\n\n".join(parts) + "\n"


def _of_table(table: Table, store: Store) -> list[str]:
    parts = []
    for panel in table.panels:
        cells = [
            (row, column.heading, cell)
            for row in panel.rows
            for column in panel.columns
            if (cell := panel.cell(row, column)) is not None
        ]
        rows = [
            [find_method(row).title, heading, told(cell, result)]
            for row, heading, cell in cells
            if (result := store.one(cell.place)) is not None
        ]
        text = markdown_table(_HEAD, rows) if rows else "Not recorded yet."
        parts += [f"### {table.title}, {panel.title}", text]
    return parts


def told(cell: Cell, result: Mapping[str, Any]) -> str:
    """Return the settings of a result that its search could choose, in words."""
    found = result["settings"]
    keys = [key for key in _keys(cell) if key in found]
    return ", ".join(f"{key} {_word(found[key])}" for key in keys) or "–"


def _keys(cell: Cell) -> list[str]:
    """Return the names of all settings that the search of a cell is offered."""
    spaces = cell.offer.spaces(find_method(cell.method), kind_of(cell.dataset))
    shapes = (key for space in spaces for shape in space.shapes for key in shape)
    return list(dict.fromkeys([*shapes, *(key for space in spaces for key in space.values)]))


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
