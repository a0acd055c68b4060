"""Statistics of a graph, as ``ppro data describe`` shows them."""

from collections.abc import Iterator
from typing import TypedDict

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.compute.edge_rows import BLOCK_ROWS, block_pairs
from ppro.graph.core import UNLABELLED, Graph
from ppro.graph.large import LargeGraph


class Description(TypedDict):
    """What :func:`describe` returns; a homophily is None where no edge joins labelled nodes.

    ``one_way_edges`` is the share of edges without an opposite one, 0 for an undirected graph; it
    is None where each edge is listed once, which may mean either.
    """

    name: str
    nodes: int
    edges: int
    one_way_edges: float | None
    features: int
    classes: int
    class_counts: dict[str, int]
    unlabelled_nodes: int
    isolated_nodes: int
    connected_components: int
    edge_homophily: float | None
    node_homophily: float | None
    adjusted_homophily: float | None
    min_degree: int
    median_degree: float
    max_degree: int


def describe(graph: Graph) -> Description:
    """Count and measure a graph, a large one block by block; weights play no part."""
    degree = _degrees(graph)
    known = graph.labels[graph.labels != UNLABELLED]
    counts = torch.bincount(known, minlength=graph.num_classes).tolist()
    edge_homophily, node_homophily, adjusted = _homophily(graph)
    return Description(
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        one_way_edges=graph.one_way if graph.one_way < 1 else None,
        features=graph.num_features,
        classes=graph.num_classes,
        class_counts=dict(zip(graph.class_names, counts, strict=True)),
        unlabelled_nodes=graph.num_nodes - known.shape[0],
        isolated_nodes=int((degree == 0).sum()),
        connected_components=_components(graph),
        edge_homophily=edge_homophily,
        node_homophily=node_homophily,
        adjusted_homophily=adjusted,
        min_degree=int(degree.min()),
        median_degree=float(np.median(degree.numpy())),
        max_degree=int(degree.max()),
    )


def _degrees(graph: Graph) -> Tensor:
    if isinstance(graph, LargeGraph):
        return graph.starts.diff()
    return torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)


def _pairs(graph: Graph) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield both ends of the edges in both directions, of a large graph some rows at a time."""
    if not isinstance(graph, LargeGraph):
        yield graph.edge_index[0], graph.edge_index[1]
        return
    for rows in row_blocks(graph.num_nodes, BLOCK_ROWS):
        source, target, _ = block_pairs(graph.starts, graph.columns, rows)
        yield source, target


def _homophily(graph: Graph) -> tuple[float | None, float | None, float | None]:
    """The share of edges within a class, its mean over nodes, and the first adjusted for chance.

    Only edges between labelled nodes count, and only nodes with such an edge. The adjusted form
    (Platonov et al., 2023) is 0 where edges ignore the classes; it has no value where all edges
    lie in one class.
    """
    labels = graph.labels
    within, degree = torch.zeros((2, graph.num_nodes), dtype=torch.float64)
    for source, target in _pairs(graph):
        known = (labels[source] != UNLABELLED) & (labels[target] != UNLABELLED)
        ones = known.to(torch.float64)
        degree.index_add_(0, source, ones)
        within.index_add_(0, source, ones * (labels[source] == labels[target]))
    counted = degree > 0
    if not bool(counted.any()):
        return None, None, None
    within, degree = within[counted], degree[counted]
    edge = float(within.sum() / degree.sum())
    by_class = torch.zeros(graph.num_classes, dtype=torch.float64)
    by_class.index_add_(0, labels[counted], degree)
    chance = float(((by_class / degree.sum()) ** 2).sum())
    adjusted = (edge - chance) / (1 - chance) if chance < 1 else None
    return edge, float((within / degree).mean()), adjusted


def _components(graph: Graph) -> int:
    size = (graph.num_nodes, graph.num_nodes)
    ones = np.ones(2 * graph.num_edges, dtype=np.int8)
    if isinstance(graph, LargeGraph):
        rows = (ones, graph.columns.numpy(), graph.starts.numpy())
        adjacency = sp.csr_matrix(rows, shape=size)
    else:
        source, target = graph.edge_index.numpy()
        adjacency = sp.coo_matrix((ones, (source, target)), shape=size)
    return int(connected_components(adjacency, directed=False, return_labels=False))
