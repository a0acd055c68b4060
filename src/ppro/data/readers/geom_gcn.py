"""Geom-GCN's text format (Pei et al., 2020) and its split files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ppro.data.readers.npz import npz_arrays
from ppro.data.readers.raw import IntArray, Masks, RawGraph, broken, file_lines, raw_graph

SPLIT_PARTS = ("train_mask", "val_mask", "test_mask")


def read_geom_gcn(edges: Path, nodes: Path, *, indexed_features: int | None = None) -> RawGraph:
    """Read one graph.

    Args:
        edges: a header line, then ``a<TAB>b`` per edge.
        nodes: a header line, then ``id<TAB>features<TAB>label`` per node.
        indexed_features: the number of features where the file lists the indices of the
            nonzero ones (Actor), or None where it lists every value.
    """
    rows = [_node(nodes, number, line) for number, line in _body(nodes)]
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    if not np.array_equal(np.sort(ids), np.arange(ids.size)):
        raise broken(nodes, f"its {ids.size} node ids are not 0 .. {ids.size - 1}, each once")
    order = np.argsort(ids)
    labels = np.array([row[2] for row in rows], dtype=np.int64)[order]
    lists = [rows[i][1] for i in order]
    features = (
        _value_matrix(nodes, lists)
        if indexed_features is None
        else _index_matrix(nodes, lists, indexed_features)
    )
    return raw_graph(_edges(edges, ids.size), features, labels)


def read_split_files(paths: Sequence[Path]) -> Masks:
    """Return Geom-GCN's split files as masks, one run per file."""
    runs = [npz_arrays(path, SPLIT_PARTS) for path in paths]
    for path, run in zip(paths, runs, strict=True):
        if any(part.ndim != 1 or part.shape != runs[0][0].shape for part in run):
            raise broken(path, "its masks do not have one entry per node")
    train, val, test = (np.stack(part).astype(np.bool_) for part in zip(*runs, strict=True))
    return Masks(train, val, test)


def _body(path: Path) -> Iterator[tuple[int, str]]:
    lines = file_lines(path)
    if len(lines) < 2 or not lines[0].startswith("node_id"):
        raise broken(path, "line 1 is not a header that starts with node_id, or nothing follows")
    yield from enumerate(lines[1:], start=2)


def _node(path: Path, number: int, line: str) -> tuple[int, list[str], int]:
    try:
        node, features, label = line.split("\t")
        return int(node), features.split(","), int(label)
    except ValueError as error:
        raise broken(path, f"line {number} is not id, features and label") from error


def _edges(path: Path, num_nodes: int) -> IntArray:
    return np.array([_edge(path, number, line, num_nodes) for number, line in _body(path)])


def _edge(path: Path, number: int, line: str, num_nodes: int) -> tuple[int, int]:
    try:
        source, target = map(int, line.split("\t"))
    except ValueError as error:
        raise broken(path, f"line {number} is not two nodes") from error
    if not (0 <= source < num_nodes and 0 <= target < num_nodes):
        raise broken(path, f"line {number} names a node outside 0 .. {num_nodes - 1}")
    return source, target


def _value_matrix(path: Path, lists: Sequence[Sequence[str]]) -> sp.csr_matrix:
    width = len(lists[0])
    for node, values in enumerate(lists):
        if len(values) != width:
            raise broken(path, f"node {node} has {len(values)} features, node 0 has {width}")
    try:
        return sp.csr_matrix(np.array(lists).astype(np.float32))
    except ValueError as error:
        raise broken(path, f"a feature is not a number ({error})") from error


def _index_matrix(path: Path, lists: Sequence[Sequence[str]], width: int) -> sp.csr_matrix:
    counts = [len(values) for values in lists]
    try:
        columns = np.array([int(value) for values in lists for value in values], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise broken(path, f"a feature is not an index ({error})") from error
    if columns.min() < 0 or columns.max() >= width:
        raise broken(path, f"a feature index is outside 0 .. {width - 1}")
    rows = np.repeat(np.arange(len(lists)), counts)
    matrix = sp.csr_matrix((np.ones(columns.size), (rows, columns)), shape=(len(lists), width))
    # An index listed twice still marks one present feature.
    matrix.data[:] = 1.0
    return matrix
