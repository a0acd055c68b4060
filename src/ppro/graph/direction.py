"""Edges read one way: which neighbours a node reads from in a directed graph."""

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.parts.choices import Direction

REAL = 0.1
"""Share of one-way edges from which a graph with edges of both kinds is taken as directed."""


def read_edges(graph: Graph, direction: Direction) -> tuple[Tensor, Tensor | None]:
    """Return the pairs (i, j) such that node i reads from node j, sorted by row, and their weights.

    Args:
        direction: "in" reads from those that point to a node, "out" from those it points to. A
            graph without direction reads both ways.

    Shapes:
        ``[2, E]`` and ``[E]``.
    """
    if direction == "both" or graph.arcs is None:
        return graph.edge_index, graph.edge_weight
    arcs = graph.arcs
    if direction == "in":
        # Every pair is there both ways, so those sorted by column are the transpose.
        arcs = arcs[torch.argsort(graph.edge_index[1], stable=True)]
    kept = arcs != 0
    return graph.edge_index[:, kept], None if graph.edge_weight is None else arcs[kept]


def check_direction(graph: Graph, direction: Direction) -> None:
    """Refuse to train one way along edges that have no direction.

    Raises:
        SettingsError: it says what to do.
    """
    if direction == "both":
        return
    if isinstance(graph, LargeGraph):
        raise SettingsError(
            f"{graph.name}: a graph on disk holds every edge both ways, so direction={direction} "
            "means nothing there; set direction=both"
        )
    if graph.arcs is None:
        raise SettingsError(
            f"{graph.name}: its edges have no direction, so direction={direction} means nothing; "
            "set direction=both, or list edges from source to target alone (in Python "
            "Graph.build(…, directed=True))"
        )


def seems_directed(graph: Graph) -> bool:
    """Tell whether a real share of the edges goes one way while others go both.

    A list with each edge once may as well be of an undirected graph, so it does not count.
    """
    return REAL <= graph.one_way < 1
