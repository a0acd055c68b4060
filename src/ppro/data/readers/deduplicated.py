"""A graph of the heterophilous-graphs collection without its duplicated nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ppro.data.readers.npz import npz_arrays, read_npz, read_npz_masks
from ppro.data.readers.raw import BoolArray, IntArray, Masks, RawGraph, raw_graph


def first_of_their_kind(edges: IntArray, labels: IntArray) -> BoolArray:
    """Which nodes share their label and all neighbours with no earlier node.

    Args:
        edges: pairs of nodes, in any direction. Shape ``[E, 2]``.
    """
    neighbours: list[set[int]] = [set() for _ in labels]
    for source, target in edges.tolist():
        neighbours[source].add(target)
        neighbours[target].add(source)
    seen: set[tuple[int, frozenset[int]]] = set()
    kept = np.zeros(len(labels), dtype=np.bool_)
    for node, label in enumerate(labels.tolist()):
        kind = label, frozenset(neighbours[node])
        kept[node] = kind not in seen
        seen.add(kind)
    return kept


def read_deduplicated(path: Path) -> RawGraph:
    """The graph that the kept nodes induce."""
    read_npz(path)  # for its checks
    edges, features, labels = npz_arrays(path, ("edges", "node_features", "node_labels"))
    kept = first_of_their_kind(edges, labels)
    number = np.cumsum(kept) - 1
    inside = kept[edges].all(1)
    return raw_graph(number[edges[inside]], sp.csr_matrix(features[kept]), labels[kept])


def read_deduplicated_masks(path: Path) -> Masks:
    """The masks of the kept nodes."""
    edges, labels = npz_arrays(path, ("edges", "node_labels"))
    kept, masks = first_of_their_kind(edges, labels), read_npz_masks(path)
    return Masks(masks.train[:, kept], masks.val[:, kept], masks.test[:, kept])
