"""Planetoid's format (Yang, Cohen and Salakhutdinov, 2016), and LINQS' Cora in the same order.

The node order is that of Kipf and Welling's loader, so results compare with it: the rows of
``tx`` go to the nodes that ``test.index`` names. Citeseer's test index skips 15 nodes; as in that
loader they get no features and, the argmax of an empty row, class 0.

LINQS' files (``cora.content``, ``cora.cites``) list the papers in another order: the shipped
permutation and the catalogue's order of the classes make the result equal to the graph read from
Planetoid's own files; a test proves it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.catalog import dataset_info
from ppro.data.readers.pickles import read_adjacency, read_array, read_csr
from ppro.data.readers.raw import IntArray, Masks, RawGraph, broken, file_lines, raw_graph

VALIDATION_NODES = 500


def read_planetoid(files: Mapping[str, Path]) -> RawGraph:
    """Read one citation graph.

    Args:
        files: paths by the last part of the file name: allx, ally, tx, ty, graph, test.index.
    """
    test = _test_index(files["test.index"])
    known, unseen = read_csr(files["allx"]), read_csr(files["tx"])
    if unseen.shape[0] != test.size or known.shape[1] != unseen.shape[1]:
        raise broken(files["tx"], f"its shape {unseen.shape} fits neither allx nor test.index")
    rows = _row_of_node(files["test.index"], known.shape[0], test)
    empty = sp.csr_matrix((1, known.shape[1]), dtype=known.dtype)
    features = sp.vstack([known, unseen, empty], format="csr")[rows]
    labels = _one_hot_rows(files, known.shape[0], test.size)[rows].argmax(1)
    return raw_graph(_edges(files["graph"], len(rows)), features, labels)


def read_public_masks(files: Mapping[str, Path]) -> Masks:
    """Return the public split: the rows of ``y``, the 500 nodes after them, and ``test.index``.

    Args:
        files: paths by the last part of the file name: y, test.index.
    """
    test = _test_index(files["test.index"])
    start = read_array(files["y"]).shape[0]
    if start + VALIDATION_NODES > test.min():
        raise broken(files["y"], f"{start} training nodes overlap the test nodes")
    return split_by_position(int(test.max()) + 1, start, test)


def split_by_position(num_nodes: int, train_nodes: int, test: IntArray) -> Masks:
    """Return one run: the first ``train_nodes`` train, the next 500 validate, ``test`` tests."""
    train, val, held_out = np.zeros((3, 1, num_nodes), dtype=np.bool_)
    train[0, :train_nodes] = True
    val[0, train_nodes : train_nodes + VALIDATION_NODES] = True
    held_out[0, test] = True
    return Masks(train, val, held_out)


def _test_index(path: Path) -> IntArray:
    try:
        index = np.array([int(line) for line in file_lines(path)], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise broken(path, f"expected one node per line ({error})") from error
    if index.size == 0 or index.min() < 0 or np.unique(index).size != index.size:
        raise broken(path, "expected distinct, non-negative nodes")
    return index


def _row_of_node(path: Path, known: int, test: IntArray) -> IntArray:
    if test.min() < known or test.max() >= known + 2 * test.size:
        raise broken(path, f"test nodes {test.min()} .. {test.max()} do not follow {known} others")
    empty_row = known + test.size
    rows = np.full(test.max() + 1, empty_row, dtype=np.int64)
    rows[:known] = np.arange(known)
    rows[test] = known + np.arange(test.size)
    return rows


def _one_hot_rows(files: Mapping[str, Path], known: int, unseen: int) -> IntArray:
    first, second = read_array(files["ally"]), read_array(files["ty"])
    for name, labels, rows in (("ally", first, known), ("ty", second, unseen)):
        if labels.ndim != 2 or labels.shape != (rows, first.shape[-1]):
            raise broken(files[name], f"labels of shape {labels.shape} for {rows} nodes")
    empty = np.zeros((1, first.shape[1]), dtype=first.dtype)
    return np.concatenate([first, second, empty]).astype(np.int64)


def _edges(path: Path, num_nodes: int) -> IntArray:
    pairs = [(node, other) for node, row in read_adjacency(path).items() for other in row]
    try:
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    except OverflowError as error:
        raise broken(path, "a node number is out of range") from error
    if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
        raise broken(path, f"an edge leaves the {num_nodes} nodes")
    return edges


_TRAIN_NODES = 140
_TEST_NODES = 1000


def read_linqs_cora(files: Mapping[str, Path]) -> RawGraph:
    """Read Cora from ``content`` and ``cites``, nodes in Planetoid's order."""
    ids, features, labels = _content(files["content"])
    order = planetoid_order()
    if len(ids) != order.size:
        raise broken(files["content"], f"{len(ids)} papers instead of {order.size}")
    position = {ids[row]: node for node, row in enumerate(order)}
    edges = _cites(files["cites"], position)
    return raw_graph(edges, sp.csr_matrix(features[order]), labels[order])


def read_linqs_masks(files: Mapping[str, Path]) -> Masks:
    """Planetoid's public split of Cora, which its node order alone determines."""
    nodes = planetoid_order().size
    return split_by_position(nodes, _TRAIN_NODES, np.arange(nodes - _TEST_NODES, nodes))


def planetoid_order() -> IntArray:
    """Entry i is the row of ``cora.content`` that is Planetoid's node i."""
    packed = resources.files("ppro.data").joinpath("cora_planetoid_perm.b85").read_bytes()
    raw = zlib.decompress(base64.b85decode(packed.strip()))
    return np.frombuffer(raw, "<u2").astype(np.int64)


def _content(path: Path) -> tuple[list[str], NDArray[np.float32], IntArray]:
    classes = dataset_info("cora").class_names or ()
    rows = [line.split("\t") for line in file_lines(path)]
    width = len(rows[0]) if rows else 0
    for number, row in enumerate(rows, start=1):
        if len(row) != width or width < 3 or row[-1] not in classes:
            raise broken(path, f"line {number} is not a paper, its words and a class of Cora")
    try:
        features = np.array([row[1:-1] for row in rows]).astype(np.float32)
    except ValueError as error:
        raise broken(path, f"a word is neither 0 nor 1 ({error})") from error
    labels = np.array([classes.index(row[-1]) for row in rows], dtype=np.int64)
    return [row[0] for row in rows], features, labels


def _cites(path: Path, position: Mapping[str, int]) -> IntArray:
    edges = []
    for number, line in enumerate(file_lines(path), start=1):
        pair = line.split()
        if len(pair) != 2 or not position.keys() >= set(pair):
            raise broken(path, f"line {number} does not name two papers of cora.content")
        edges.append((position[pair[0]], position[pair[1]]))
    return np.array(edges, dtype=np.int64)
