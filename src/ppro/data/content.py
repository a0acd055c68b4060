"""Check that a graph is that of the catalogue, where the hash of its file is not known."""

import hashlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from ppro.data.records import DatasetInfo, Statistics
from ppro.errors import DataError
from ppro.graph.core import Graph


def graph_content(graph: Graph) -> str:
    """Return the sha256 of the edges, features and labels of a graph, however they were stored."""
    features = _canonical(graph)
    digest = hashlib.sha256()
    for part, kind in (
        (graph.edge_index.numpy(), "<i8"),
        (features.indptr, "<i8"),
        (features.indices, "<i8"),
        (features.data, "<f4"),
        (graph.labels.numpy(), "<i8"),
    ):
        digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


def check_graph(info: DatasetInfo, graph: Graph, path: Path) -> None:
    """Refuse a graph of other sizes or another content than those of the catalogue.

    Args:
        path: where it was read from.
    """
    sizes = graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes
    found = Statistics(*sizes)
    if info.expected is not None and found != info.expected:
        raise DataError(
            f"{path}: not the {info.name} of the catalogue: {_told(found)} instead of "
            f"{_told(info.expected)}; replace the file"
        )
    if info.content and graph_content(graph) != info.content:
        raise DataError(
            f"{path}: not the {info.name} of the catalogue, though of its sizes: edges, features "
            "or labels differ; replace the file"
        )


def _canonical(graph: Graph) -> sp.csr_matrix:
    features = graph.features
    if features.layout == torch.sparse_csr:
        parts = (features.values(), features.col_indices(), features.crow_indices())
        found = sp.csr_matrix(tuple(part.numpy() for part in parts), shape=features.shape)
    else:
        found = sp.csr_matrix(features.numpy())
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def _told(sizes: Statistics) -> str:
    return (
        f"{sizes.nodes} nodes, {sizes.edges} edges, {sizes.features} features and "
        f"{sizes.classes} classes"
    )
