"""Random edges for a share of the nodes of any graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from ppro.data.options import NOISE, checked_options
from ppro.data.readers.raw import BoolArray
from ppro.errors import DataError
from ppro.graph.core import Graph, undirected
from ppro.graph.large import LargeGraph

_STREAM = 0x6E6F697365
"""Sets these draws apart from those of a generator with the same seed."""


def noised_nodes(num_nodes: int, share: float, seed: int = 0) -> BoolArray:
    """Return which nodes get random edges: a share of them, drawn by seed. Shape ``[n]``."""
    return np.random.default_rng([seed, _STREAM]).permutation(num_nodes) < round(share * num_nodes)


def with_noise(graph: Graph, share: float, seed: int = 0) -> Graph:
    """Return a graph in which a share of the nodes has random neighbours.

    Every edge with such a node keeps it, and its other end is drawn anew among all other nodes; of
    two such nodes one is kept, by a coin. Edges that come about twice are merged, so a few are
    lost, and edges have no direction any more. Features, labels and weights stay.

    Raises:
        DataError: the share is not one, or the graph lies on disk.
    """
    share = checked_options(graph.name, {NOISE: share})[NOISE]
    if share == 0:
        return graph
    if isinstance(graph, LargeGraph):
        raise DataError(f"{graph.name}: noise needs the edges in memory; leave the option out")
    count = graph.num_nodes
    noised = noised_nodes(count, share, seed)
    generator = np.random.default_rng([seed, _STREAM, 1])
    half = graph.edge_index[0] < graph.edge_index[1]
    ends = graph.edge_index[:, half].numpy().copy()
    first, second = noised[ends]
    touched = first | second
    second_stays = np.where(first & second, generator.random(first.size) < 0.5, second)
    kept = np.where(second_stays, ends[1], ends[0])[touched]
    drawn = generator.integers(0, max(count - 1, 1), kept.size)
    ends[:, touched] = np.stack([kept, drawn + (drawn >= kept)])
    weight = None if graph.edge_weight is None else graph.edge_weight[half]
    edges, weight = undirected(torch.from_numpy(ends), weight, count)
    return replace(graph, edge_index=edges, edge_weight=weight, arcs=None)


def with_options(graph: Graph, options: Mapping[str, float | str], seed: int = 0) -> Graph:
    """Return a graph with the options that any graph takes."""
    return with_noise(graph, checked_options(graph.name, options).get(NOISE, 0.0), seed)
