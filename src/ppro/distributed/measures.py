"""Measures of nodes over all ranks: moments, and the influence part of the priority."""

from __future__ import annotations

import torch
from torch import Tensor

from ppro.distributed.adjacency import Halves
from ppro.distributed.halo import Halo
from ppro.priority import standardised
from ppro.ranks import Ranks
from ppro.rows import neighbour_sums

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


def influence_over(
    pattern: Halves,
    halo: Halo,
    *,
    self_loops: bool,
    tolerance: float = 1e-9,
    iterations: int = 1000,
) -> Tensor:
    """The same as :func:`ppro.priority.influence` for the nodes of this rank. Shape ``[n, 2]``.

    Args:
        pattern: rows of the adjacency, whose values are not looked at.
        self_loops: whether it holds the diagonal.
    """
    ranks, count = halo.ranks, halo.plan.num_nodes
    halves = [(m.crow_indices().long(), m.col_indices()) for m in (pattern.inner, pattern.outer)]
    degree = torch.cat([starts.diff() for starts, _ in halves]).to(torch.float64)

    def step(ec: Tensor) -> Tensor:
        """(A + I) ec."""
        received = halo.start(ec.view(1, -1, 1))
        inner = neighbour_sums(*halves[0], ec)
        sums = torch.cat([inner, neighbour_sums(*halves[1], received().view(-1))])
        return sums if self_loops else sums + ec

    ec = torch.full((halo.plan.nodes.shape[0],), count**-0.5, dtype=torch.float64)
    for _ in range(iterations):
        previous, ec = ec, step(ec)
        ec = ec / ranks.sum(ec.square().sum()).sqrt()
        if float(ranks.max((ec - previous).abs().max())) < tolerance:
            break
    measures = [(degree - int(self_loops)).log1p(), ec]
    return torch.stack([standardised(m, by=moments_over(m, ranks, count)) for m in measures], dim=1)
