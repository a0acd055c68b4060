"""Edges from the columns of an edge table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.columns import Floats, check_column, numbers, refuse_cells, texts
from ppro.data.files.tables import arrow
from ppro.data.readers.raw import IntArray
from ppro.errors import DataError

USUAL_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))


@dataclass(frozen=True)
class EdgeFacts:
    """What a file lists, before edges are made undirected, merged and freed of self-loops.

    Args:
        listed: edges in the file.
        self_loops: edges from a node to itself.
        duplicates: edges listed again in the same direction.
        reciprocal: pairs of nodes with an edge in both directions.
    """

    listed: int
    self_loops: int
    duplicates: int
    reciprocal: int


def edge_facts(pairs: IntArray, num_nodes: int) -> EdgeFacts:
    """Count what is odd about edges. ``pairs`` has shape ``[E, 2]``."""
    source, target = pairs.T
    proper = source != target
    keys = np.unique(source[proper] * num_nodes + target[proper])
    mirrored = (keys % num_nodes) * num_nodes + keys // num_nodes
    return EdgeFacts(
        listed=len(pairs),
        self_loops=int((~proper).sum()),
        duplicates=int(proper.sum()) - keys.size,
        reciprocal=int(np.isin(keys, mirrored).sum()) // 2,
    )


def end_columns(
    path: Path, columns: Sequence[str], source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns with the ends of an edge: those named, those of a usual name, the first two."""
    if source is not None and target is not None:
        for name in (source, target):
            check_column(path, columns, name)
        return source, target
    if source is not None or target is not None:
        raise DataError(f"{path}: one end column alone; give both --source and --target")
    for usual in USUAL_ENDS:
        if set(usual) <= set(columns):
            return usual
    if len(columns) < 2:
        raise DataError(f"{path}: one column only; an edge needs two, source and target")
    return columns[0], columns[1]


def edge_pairs(path: Path, frame: Any, ends: tuple[str, str], ids: Sequence[str]) -> IntArray:
    """Return the positions of both ends of every edge. Shape ``[E, 2]``.

    Raises:
        DataError: an end is missing or the id of no node.
    """
    index = arrow("pandas").Index(np.array(ids, dtype=object))
    pairs = np.empty((len(frame), 2), dtype=np.int64)
    for side, name in enumerate(ends):
        cells = texts(frame[name])
        pairs[:, side] = index.get_indexer(np.array(cells, dtype=object))
        unknown = np.flatnonzero(pairs[:, side] < 0)
        if unknown.size:
            row = int(unknown[0])
            what = f"no node has the id {cells[row]!r}" if cells[row] else "the id is missing"
            remedy = "add the nodes or drop these edges"
            if unknown.size == len(frame):
                remedy = "name the column that holds the ids of the nodes with --id"
            where = f"{path}, row {row + 1}, column {name}"
            raise DataError(f"{where}: {what} ({unknown.size:,} such rows); {remedy}")
    return pairs


def edge_weights(path: Path, frame: Any, name: str | None) -> Floats | None:
    """Return the weight of every edge. Shape ``[E]``.

    Raises:
        DataError: one is missing, zero or negative.
    """
    if name is None:
        return None
    check_column(path, list(frame.columns), name)
    weights = numbers(path, frame[name])
    told = "weight {}; weights are positive, so drop the edge or correct it"
    refuse_cells(path, frame[name], ~(weights > 0), told)
    return weights
