"""Statistics of a graph, as ``ppro data describe`` shows them."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ppro.graph import UNLABELLED, Graph


class Description(TypedDict):
    """What :func:`describe` returns; a homophily is None where no edge joins labelled nodes."""

    name: str
    nodes: int
    edges: int
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
    """Count and measure a graph; weights play no part."""
    degree = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)
    known = graph.labels[graph.labels != UNLABELLED]
    counts = torch.bincount(known, minlength=graph.num_classes).tolist()
    edge_homophily, node_homophily, adjusted = _homophily(graph.edge_index, graph.labels)
    return Description(
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
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


def _homophily(
    edge_index: Tensor, labels: Tensor
) -> tuple[float | None, float | None, float | None]:
    """The share of edges within a class, its mean over nodes, and the first adjusted for chance.

    Only edges between labelled nodes count, and only nodes with such an edge. The adjusted form
    (Platonov et al., 2023) is 0 where edges ignore the classes; it has no value where all edges
    lie in one class.
    """
    source, target = edge_index[:, (labels[edge_index] != UNLABELLED).all(0)]
    if source.numel() == 0:
        return None, None, None
    same = (labels[source] == labels[target]).to(torch.float64)
    degree = torch.bincount(source, minlength=labels.shape[0])
    within = torch.bincount(source, weights=same, minlength=labels.shape[0])
    edge = float(same.mean())
    by_class = torch.bincount(labels[source]).to(torch.float64) / source.numel()
    chance = float((by_class**2).sum())
    adjusted = (edge - chance) / (1 - chance) if chance < 1 else None
    return edge, float((within / degree)[degree > 0].mean()), adjusted


def _components(graph: Graph) -> int:
    source, target = graph.edge_index.numpy()
    size = (graph.num_nodes, graph.num_nodes)
    adjacency = sp.coo_matrix((np.ones(source.size, dtype=np.int8), (source, target)), shape=size)
    return int(connected_components(adjacency, directed=False, return_labels=False))
