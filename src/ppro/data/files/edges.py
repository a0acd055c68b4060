"""Edges from the columns of a table: their ends, their weights, and what else is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.cells import Floats, kind_of, numbers, refuse_cells, texts
from ppro.data.files.columns import check_column
from ppro.data.files.ids import NodeIndex
from ppro.data.files.schema import NO_WEIGHT
from ppro.data.files.tables import INDEX_COLUMNS, usual_column
from ppro.data.readers.raw import IntArray
from ppro.errors import DataError

USUAL_ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
)
USUAL_WEIGHT = "weight"
SHOWN = 5


@dataclass(frozen=True)
class EdgeFacts:
    """What a file lists, before edges are made undirected, merged and freed of self-loops.

    Args:
        listed: edges in the file.
        self_loops: edges from a node to itself.
        duplicates: edges listed again in the same direction.
        reciprocal: pairs of nodes with an edge in both directions.
        pairs: pairs of different nodes with an edge.
    """

    listed: int
    self_loops: int
    duplicates: int
    reciprocal: int
    pairs: int

    @property
    def edges(self) -> int:
        """Return the number of edges that differ, either direction counted."""
        return self.pairs + self.reciprocal

    @property
    def note(self) -> str:
        """What to tell of a graph that seems directed; empty where nothing does."""
        single = self.pairs - self.reciprocal
        if not self.reciprocal or not single:
            return ""
        return (
            f"a directed graph, it seems: {single:,} edges ({single / self.edges:.0%}) have no "
            "opposite one; they are read both ways unless --set direction=in or out says otherwise"
        )


def edge_facts(pairs: IntArray, num_nodes: int) -> EdgeFacts:
    """Count what is odd about edges. ``pairs`` has shape ``[E, 2]``."""
    source, target = pairs.T
    proper = source != target
    # Sorting beats the hash table of np.unique on millions of keys.
    keys = np.sort(source[proper] * num_nodes + target[proper])
    keys = keys[np.diff(keys, prepend=-1) != 0]
    mirrored = (keys % num_nodes) * num_nodes + keys // num_nodes
    reciprocal = int(np.isin(keys, mirrored, assume_unique=True).sum()) // 2
    return EdgeFacts(
        listed=len(pairs),
        self_loops=int((~proper).sum()),
        duplicates=int(proper.sum()) - keys.size,
        reciprocal=reciprocal,
        pairs=keys.size - reciprocal,
    )


def end_columns(
    path: Path, columns: Sequence[str], source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns with the ends of an edge: those named, those of a usual name, the first two."""
    if source is not None and target is not None:
        for name in (source, target):
            check_column(path, columns, name)
        if source == target:
            raise DataError(
                f"{path}: --source and --target both name {source!r}; an edge has two ends"
            )
        return source, target
    if source is not None or target is not None:
        raise DataError(f"{path}: one end column alone; give both --source and --target")
    for usual in USUAL_ENDS:
        first, second = (usual_column((name,), columns) for name in usual)
        if first is not None and second is not None:
            return first, second
    named = [name for name in columns if name not in INDEX_COLUMNS]
    if len(named) < 2:
        raise DataError(f"{path}: one column only; an edge needs two, source and target")
    return named[0], named[1]


def told_of_ends(path: Path, columns: Sequence[str], ends: tuple[str, str]) -> list[str]:
    """Return a note where others than the first two columns may be the ends of an edge."""
    named = [name for name in columns if name not in INDEX_COLUMNS]
    usual = {name for pair in USUAL_ENDS for name in pair}
    if len(named) < 3 or {name.lower() for name in ends} <= usual:
        return []
    which = f"columns {ends[0]} and {ends[1]}, the first two, are taken for the ends of an edge"
    return [f"{path}: {which}; --source and --target name others"]


def names_without_header(columns: Sequence[str], index: NodeIndex) -> list[str] | None:
    """Return names for the columns of an edge list whose first row is an edge; else None."""
    if len(columns) < 2 or (index.find([name.strip() for name in columns[:2]])[0] < 0).any():
        return None
    return ["source", "target", *(f"column_{k}" for k in range(3, len(columns) + 1))]


def edge_pairs(
    path: Path, frame: Any, ends: tuple[str, str], index: NodeIndex
) -> tuple[IntArray, list[str]]:
    """Return the nodes at both ends of every edge, and a note on ids that are spelled otherwise.

    Shape: ``[E, 2]``.
    """
    pairs = np.empty((len(frame), 2), dtype=np.int64)
    notes: list[str] = []
    for side, name in enumerate(ends):
        cells = texts(frame[name])
        pairs[:, side], told = index.find(cells)
        unknown = np.flatnonzero(pairs[:, side] < 0)
        if unknown.size:
            where = f"{path}, row {int(unknown[0]) + 1}, column {name}"
            if cells[int(unknown[0])] == str(len(index.ids)) and _count_from_one(
                frame, ends, index
            ):
                told = (
                    "the edges count from 1 and the nodes from 0, it seems; give the nodes a column"
                )
                raise DataError(f"{where}: {told} id with the numbers that the edges mean")
            raise _unknown(where, cells[int(unknown[0])], unknown.size, len(frame), index)
        if told and not notes:
            notes = [f"{path}: {told} of {index.path}, by their number"]
    return pairs, notes


def _count_from_one(frame: Any, ends: tuple[str, str], index: NodeIndex) -> bool:
    """Tell whether edges name the numbers from 1 on where nodes have those from 0 on."""
    named = {cell for name in ends for cell in texts(frame[name])}
    rows = [str(row) for row in range(len(index.ids) + 1)]
    return list(index.ids) == rows[:-1] and named <= set(rows[1:])


def _unknown(where: str, cell: str, count: int, rows: int, index: NodeIndex) -> DataError:
    what = f"no node has the id {cell!r}" if cell else "the id is missing"
    remedy = "add the nodes or drop these edges"
    if count == rows:
        column = index.column_with(cell)
        remedy = "name the column that holds the ids of the nodes with --id"
        if column is not None:
            remedy = f"column {column!r} of the nodes has it: give --id {column!r}"
    return DataError(f"{where}: {what} ({count:,} such rows); {remedy} ({index.examples()})")


def weight_column(
    path: Path, frame: Any, wanted: str | None, ends: tuple[str, str]
) -> tuple[str | None, list[str]]:
    """Return the column with the weights of the edges, and notes on columns that are not used.

    Args:
        wanted: the column that the user named, ``none``, or None to look for the usual name.
    """
    notes: list[str] = []
    name = usual = None
    if wanted is None:
        others = (column for column in frame.columns if column not in ends)
        usual = next((column for column in others if column.lower() == USUAL_WEIGHT), None)
        if usual is not None:
            name, notes = _checked_usual(path, frame[usual])
    elif wanted != NO_WEIGHT:
        check_column(path, list(frame.columns), wanted)
        name = wanted
    known = (*ends, name, usual, *INDEX_COLUMNS)
    rest = [column for column in frame.columns if column not in known]
    if rest:
        shown = ", ".join(rest[:SHOWN]) + (" …" if len(rest) > SHOWN else "")
        which = f"column {shown} is" if len(rest) == 1 else f"columns {shown} are"
        hint = "" if usual or wanted else "; --weight NAME makes one the weight of the edges"
        notes.append(f"{path}: {which} not used{hint}")
    return name, notes


def _checked_usual(path: Path, column: Any) -> tuple[str | None, list[str]]:
    """Return a column of the usual name if it can be a weight, and a note on it either way."""
    try:
        if kind_of(column) != "numbers":
            raise DataError("it does not hold numbers")
        edge_weights(path, column)
    except DataError as error:
        return None, [f"{path}: column {column.name} is no weight of the edges ({error})"]
    told = f"{path}: column {column.name} weighs the edges (--weight none leaves it out)"
    return str(column.name), [told]


def edge_weights(path: Path, column: Any) -> Floats:
    """Return the weight of every edge. Shape ``[E]``."""
    weights = numbers(path, column)
    told = "weight {}; weights are positive, so drop the edge or correct it"
    refuse_cells(path, column, ~(weights > 0), told)
    return weights
