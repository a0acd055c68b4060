"""Measures of nodes over all ranks: moments, and the influence part of the priority."""

import torch
from torch import Tensor

from ppro.compute.edge_rows import neighbour_sums
from ppro.compute.ranks import Ranks
from ppro.distributed.adjacency import Halves
from ppro.distributed.halo import Halo
from ppro.nn.priority import Edges, standardised

Moments = tuple[Tensor, Tensor]


def moments_over(measure: Tensor, ranks: Ranks, count: int) -> Moments:
    """Mean and deviation over the nodes of all ranks, summed in float64.

    Args:
        measure: of the nodes of this rank. Shape ``[..., n]``.
        count: nodes of the whole graph.
    """
    wide = measure.to(torch.float64)
    mean = ranks.sum(wide.sum(-1, keepdim=True)) / count
    deviation = (ranks.sum((wide - mean).square().sum(-1, keepdim=True)) / count).sqrt()
    flat = deviation <= 1e-7 * ranks.max(wide.abs().amax(-1, keepdim=True))
    deviation = torch.where(flat, 0.0, deviation)
    return mean.to(measure.dtype), deviation.to(measure.dtype)


class ShardEdges(Edges):
    """The edges of the nodes of this rank; neighbours elsewhere tell what they hold.

    Args:
        pattern: rows of the adjacency, whose values are not looked at.
        self_loops: whether it holds the diagonal.
    """

    def __init__(self, pattern: Halves, halo: Halo, *, self_loops: bool) -> None:
        self.halo, self.ranks, self.self_loops = halo, halo.ranks, self_loops
        self.num_nodes, self.num_own = halo.plan.num_nodes, halo.plan.nodes.shape[0]
        parts = (pattern.inner, pattern.outer)
        self._halves = [(m.crow_indices().long(), m.col_indices()) for m in parts]

    def degree(self) -> Tensor:
        """Return the number of neighbours of each node."""
        counts = torch.cat([starts.diff() for starts, _ in self._halves]).to(torch.float64)
        return counts - int(self.self_loops)

    def with_neighbours(self, x: Tensor) -> Tensor:
        """Return (A + I) x."""
        received = self.halo.start(x.view(1, -1, 1))
        inner = neighbour_sums(*self._halves[0], x)
        sums = torch.cat([inner, neighbour_sums(*self._halves[1], received().view(-1))])
        return sums if self.self_loops else sums + x

    def length(self, x: Tensor) -> Tensor:
        """Return ‖x‖ over the nodes of all ranks."""
        return self.ranks.sum(x.square().sum()).sqrt()

    def largest(self, x: Tensor) -> float:
        """Return the largest |x| over the nodes of all ranks."""
        return float(self.ranks.max(x.abs().max()))

    def standardised(self, x: Tensor) -> Tensor:
        """Return x with zero mean and unit variance over the nodes of all ranks."""
        return standardised(x, by=moments_over(x, self.ranks, self.num_nodes))
