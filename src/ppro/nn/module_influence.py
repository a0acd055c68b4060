"""The priority measures of a graph alone, for a list of edges, kept for the graphs seen last."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.utils import remove_self_loops, to_undirected

from ppro.nn.module_checks import check_ends
from ppro.nn.priority import Edges, Measure, measures_of
from ppro.nn.priority import influence as of_edges
from ppro.settings.controllers import ControllerSettings

MOST_KEPT = 8
"""Graphs whose measures are kept: a training graph and a few that it is validated on."""
DEFAULT_MEASURES: tuple[str, ...] = ControllerSettings().measures


class _Kept(NamedTuple):
    edge_index: Tensor
    num_nodes: int
    measures: list[type[Measure]]
    influence: Tensor

    def is_of(self, edge_index: Tensor, num_nodes: int, measures: list[type[Measure]]) -> bool:
        # Classes, not names: a measure that a user defines again is another one.
        same = (self.num_nodes, self.measures) == (num_nodes, measures)
        if not same or self.edge_index.device != edge_index.device:
            return False
        return torch.equal(self.edge_index, edge_index)


_kept: deque[_Kept] = deque(maxlen=MOST_KEPT)


def influence(
    edge_index: Tensor, num_nodes: int, measures: Sequence[str] = DEFAULT_MEASURES
) -> Tensor:
    """Return the part of z that the graph alone decides: degree and eigenvector centrality.

    Each measure has zero mean and unit variance over all nodes. Directions, weights, duplicates
    and self-loops of edges play no part. For mini-batches, compute it once for the whole graph and
    hand the model the rows of a batch: ``model(..., influence=whole[batch.n_id])``.

    Args:
        edge_index: Shape ``[2, E]``.
        num_nodes: n.
        measures: names of priority measures; those of embeddings are left out.

    Returns:
        Shape ``[n, number of measures]``, float32.
    """
    found: Tensor = torch.ops.ppro.influence(edge_index, num_nodes, ",".join(measures))
    return found


# An operation of its own: compiled programs call it as a whole instead of tracing its loop.
@torch.library.custom_op(
    "ppro::influence",
    mutates_args=(),
    schema="(Tensor edge_index, SymInt num_nodes, str measures) -> Tensor",
)
def _influence(edge_index: Tensor, num_nodes: int, measures: str) -> Tensor:
    classes = [type(measure) for part in measures_of(_names(measures)) for measure in part]
    for kept in tuple(_kept):
        if kept.is_of(edge_index, num_nodes, classes):
            return kept.influence.clone()
    check_ends(edge_index, num_nodes)
    edges = to_undirected(remove_self_loops(edge_index.cpu())[0], num_nodes=num_nodes)
    found = of_edges(Edges(edges, num_nodes), _names(measures))
    found = found.to(torch.float32).to(edge_index.device)
    _kept.append(_Kept(edge_index.clone(), num_nodes, classes, found))
    return found.clone()


@_influence.register_fake
def _(edge_index: Tensor, num_nodes: int, measures: str) -> Tensor:
    columns = len(measures_of(_names(measures))[0])
    return edge_index.new_empty((num_nodes, columns), dtype=torch.float32)


def _names(measures: str) -> list[str]:
    return [name for name in measures.split(",") if name]
