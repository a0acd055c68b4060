"""Ids of nodes, and the nodes that the ids of another table mean."""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.cells import texts
from ppro.data.files.tables import INDEX_COLUMNS, arrow
from ppro.data.readers.raw import IntArray
from ppro.errors import DataError

_NUMBER = re.compile(r"0*(\d+)(?:\.0*)?")
_SHOWN = 2
ID_ENDINGS = ("id", "name", "index", "key")
"""How columns end that may hold ids."""
_LOOKED_AT = 100


def node_ids(path: Path, column: Any) -> tuple[str, ...]:
    """Return the id of every node."""
    ids = texts(column)
    seen: dict[str, int] = {}
    for row, name in enumerate(ids, start=1):
        if not name:
            raise DataError(f"{path}, row {row}, column {column.name}: a node without id; give one")
        if name in seen:
            raise DataError(
                f"{path}, row {row}, column {column.name}: id {name!r} is that of row "
                f"{seen[name]} too; give every node an id of its own"
            )
        seen[name] = row
    return tuple(ids)


def plain_number(text: str) -> str:
    """Return a whole number as one writes it: 00042 and 42.0 are 42; other texts stay."""
    found = _NUMBER.fullmatch(text)
    return text if found is None else found[1]


class NodeIndex:
    """Finds nodes by their ids, as a table of edges writes them.

    An id that no node has is looked for again as a number, where no two nodes are the same one:
    spreadsheets and libraries write ``00042``, ``42`` and ``42.0`` for each other.

    Args:
        path: the table of nodes.
        ids: the id of every node.
        table: all columns of the table, to tell which of them the ids may be in.
    """

    def __init__(self, path: Path, ids: Sequence[str], table: Any = None) -> None:
        self.path, self.ids, self.table = path, ids, table
        self._index = arrow("pandas").Index(np.array(ids, dtype=object))

    @cached_property
    def _by_number(self) -> Any:
        """The same by plain numbers; None where two nodes have the same."""
        plain = [plain_number(name) for name in self.ids]
        index = arrow("pandas").Index(np.array(plain, dtype=object))
        return index if index.is_unique else None

    def find(self, cells: Sequence[str]) -> tuple[IntArray, str]:
        """Return the node that each cell names, -1 where none, and how some were understood.

        The second is empty where every id is written as the node's. Shape: ``[E]``.
        """
        found = np.array(self._index.get_indexer(np.array(cells, dtype=object)), dtype=np.int64)
        unknown = np.flatnonzero(found < 0)
        if not unknown.size or self._by_number is None:
            return found, ""
        plain: list[Any] = [plain_number(cells[row]) for row in unknown.tolist()]
        found[unknown] = self._by_number.get_indexer(np.array(plain, dtype=object))
        first = int(unknown[0])
        if found[first] < 0:
            return found, ""
        return found, f"ids such as {cells[first]!r} are taken for {self.ids[found[first]]!r}"

    def column_with(self, cell: str) -> str | None:
        """Return the first column of the table that holds an id, different in every row."""
        if self.table is None:
            return None
        for name in self.table.columns:
            cells = texts(self.table[name])
            if cell in cells and len(set(cells)) == len(cells):
                return str(name)
        return None

    def examples(self) -> str:
        """Return some ids for a message."""
        return f"{self.path.name} has {', '.join(map(repr, self.ids[:_SHOWN]))} …"


def ids_of_edges(
    rows: NodeIndex, ends: Sequence[Any], taken: Sequence[str | None]
) -> tuple[str | None, list[str]]:
    """Return the column of ids where none has a usual name, and a note on it.

    A column that holds every end of the edges, different in every row, is taken for the ids where
    its name says so, or where the edges cannot mean numbers of rows; else it is only told of.

    Args:
        rows: finds nodes by the numbers of their rows; with their table.
        ends: the two columns of the edges.
        taken: columns that are no ids: label, split.
    """
    table, named = rows.table, sorted({cell for column in ends for cell in texts(column)} - {""})
    are_rows = bool((rows.find(named)[0] >= 0).all())
    fitting = [
        str(name)
        for name in table.columns
        if name not in taken and _holds_all(rows.path, table[name], named)
    ]
    chosen = [name for name in fitting if _says_id(name) or not are_rows]
    if chosen:
        told = f"column {chosen[0]} holds every end of the edges and is taken for the ids"
        return chosen[0], [f"{rows.path}: {told}; --id names another"]
    counted = [str(row) for row in range(len(table))]
    others = [name for name in fitting if texts(table[name]) != counted]
    if not others and are_rows and "0" not in named:
        told = "nodes are numbered by their rows, from 0, and no edge names 0; if the edges count"
        return None, [f"{rows.path}: {told} from 1, give the nodes a column id"]
    if not others:
        return None, []
    told = f"nodes are numbered by their rows, from 0, but column {others[0]} holds every end of"
    return None, [f"{rows.path}: {told} the edges too; if it has the ids: --id {others[0]!r}"]


def _says_id(name: str) -> bool:
    return name in INDEX_COLUMNS or name.lower().endswith(ID_ENDINGS)


def _holds_all(path: Path, column: Any, named: Sequence[str]) -> bool:
    """Tell whether a column is different in every row and has all that the edges name."""
    head = column.iloc[:_LOOKED_AT]
    is_measured = head.dtype.kind == "f" and bool((head % 1 != 0).any())
    if is_measured or not column.is_unique:
        return False
    cells = texts(column)
    return all(cells) and bool((NodeIndex(path, cells).find(named)[0] >= 0).all())
