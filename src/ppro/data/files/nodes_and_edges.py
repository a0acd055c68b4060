"""Ids, labels, splits and edges from the columns of a table of nodes and one of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.columns import Floats, check_column, numbers, refuse_cells, texts
from ppro.data.files.tables import MISSING, arrow
from ppro.data.readers.raw import IntArray, Masks
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("none", *(word.lower() for word in MISSING)), "none"),
}
"""What a split column may say of a node, whatever its case."""


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


def classes_of(path: Path, column: Any) -> tuple[str, ...]:
    """Return the names of the classes: whole numbers by value, others in the order of text."""
    found = [name for name in labels_as_text(column) if name]
    names = set(found)
    if names and all(map(_is_number, names)):
        _check_numbers(path, column)
        ordered = sorted(names, key=int)
    else:
        ordered = sorted(names)
    if len(ordered) < 2:
        has = f"only the class {ordered[0]!r}" if ordered else "no label at all"
        raise DataError(
            f"{path}, column {column.name}: {has}; classification needs two classes, so name "
            "another --label or add nodes of another class"
        )
    return tuple(ordered)


def class_codes(column: Any, class_names: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Return the class of every node, -1 where it has none, and a note on labels of no class."""
    names = labels_as_text(column)
    index = arrow("pandas").Index(class_names)
    codes = np.asarray(index.get_indexer(np.array(names, dtype=object)), dtype=np.int64)
    strange = sorted({name for name, c in zip(names, codes, strict=True) if name and c < 0})
    if not strange:
        return codes, ()
    told = f"{len(strange)} labels are unknown to the model ({strange[0]!r} …)"
    return codes, (f"column {column.name}: {told}; such nodes are not scored",)


def labels_as_text(column: Any) -> list[str]:
    """Return labels as text; empty where missing or -1, and 2.0 is 2."""
    names = ["" if name in MISSING else name for name in texts(column)]
    if all(_is_number(name) for name in names if name):
        names = [_whole(name) for name in names]
        names = ["" if name == str(UNLABELLED) else name for name in names]
    return names


def split_masks(path: Path, column: Any, labels: IntArray) -> Masks:
    """Return the masks that a split column states, for a single run."""
    parts = [PARTS.get(word.lower(), "") for word in texts(column)]
    for row, part in enumerate(parts):
        where = f"{path}, row {row + 1}, column {column.name}"
        if not part:
            word = str(column.iloc[row])
            raise DataError(f"{where}: {word!r} is no part; use train, val, test or none")
        if part != "none" and labels[row] == UNLABELLED:
            raise DataError(f"{where}: {part}, but the node has no label; label it or write none")
    masks = {
        name: np.array([[part == name for part in parts]]) for name in ("train", "val", "test")
    }
    for name in ("train", "val"):
        if not masks[name].any():
            raise DataError(f"{path}, column {column.name}: no node is {name}; mark some as {name}")
    return Masks(masks["train"], masks["val"], masks["test"])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole(text: str) -> str:
    """Return a number without an idle decimal part."""
    try:
        return str(int(text))
    except ValueError:
        value = float(text) if text else 0.5
        return str(int(value)) if value % 1 == 0 else text


def _check_numbers(path: Path, column: Any) -> None:
    for row, name in enumerate(labels_as_text(column), start=1):
        if not name:
            continue
        where = f"{path}, row {row}, column {column.name}: label {name}"
        if not name.lstrip("-").isdigit():
            raise DataError(
                f"{where} is not a class; use names or whole numbers, or bin the values"
            )
        if int(name) < UNLABELLED:
            raise DataError(f"{where} is negative; classes count from 0, and -1 means no label")


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
    """Return the positions of both ends of every edge. Shape ``[E, 2]``."""
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
    """Return the weight of every edge. Shape ``[E]``."""
    if name is None:
        return None
    check_column(path, list(frame.columns), name)
    weights = numbers(path, frame[name])
    told = "weight {}; weights are positive, so drop the edge or correct it"
    refuse_cells(path, frame[name], ~(weights > 0), told)
    return weights
