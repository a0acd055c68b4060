"""LINQS' Cora (``cora.content``, ``cora.cites``) brought into Planetoid's node order.

The shipped permutation and the catalogue's order of the classes make the result equal to the graph
read from Planetoid's own files; a test proves it.
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
from ppro.data.readers.planetoid import split_by_position
from ppro.data.readers.raw import IntArray, Masks, RawGraph, broken, file_lines, raw_graph

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
