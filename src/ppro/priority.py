"""Priority measures of a node: degree, eigenvector centrality, heterophily degree (Eq. 3-6)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ppro.blocks import each_block, row_blocks
from ppro.rows import neighbour_sums
from ppro.sparse import csr

MANY_NODES, BLOCK_ROWS = 2**18, 16_384
"""Nodes from which distances are taken in blocks of rows, and rows in a block."""


def degree_centrality(edge_index: Tensor, num_nodes: int) -> Tensor:
    """d_i = Σ_j A_ij (Eq. 3). Shape ``[n]``, float64."""
    return torch.bincount(edge_index[0], minlength=num_nodes).to(torch.float64)


def eigenvector_centrality(
    edge_index: Tensor, num_nodes: int, *, tolerance: float = 1e-9, iterations: int = 1000
) -> Tensor:
    """ec ∝ A ec, the leading eigenvector of A (Eq. 4), of unit length. Shape ``[n]``, float64.

    Power iteration runs on A + I: the eigenvectors are those of A, and bipartite parts, whose
    spectrum is symmetric, converge too.
    """
    ones = torch.ones(edge_index.shape[1], dtype=torch.float64)
    A = csr(edge_index[0], edge_index[1], ones, (num_nodes, num_nodes))

    def step(ec: Tensor) -> Tensor:
        return torch.addmm(ec.unsqueeze(1), A, ec.unsqueeze(1)).squeeze(1)

    return _leading(step, num_nodes, tolerance, iterations)


def _leading(
    step: Callable[[Tensor], Tensor], num_nodes: int, tolerance: float, iterations: int
) -> Tensor:
    """Power iteration from equal entries; ``step`` is the product with A + I. Shape ``[n]``."""
    ec = torch.full((num_nodes,), num_nodes**-0.5, dtype=torch.float64)
    for _ in range(iterations):
        previous, ec = ec, step(ec)
        ec = ec / ec.norm()
        if float((ec - previous).abs().max()) < tolerance:
            break
    return ec


def heterophily_degree(h0: Tensor, aggregate: Tensor) -> Tensor:
    """he_i = ‖h_i^(0) - ĥ_i^(1)‖ (Eq. 5). Shapes: ``[..., n, d]`` twice to ``[..., n]``."""
    learning = h0.requires_grad or aggregate.requires_grad
    if learning or h0.is_cuda or h0.shape[-2] < MANY_NODES:
        distance: Tensor = torch.linalg.vector_norm(h0 - aggregate, dim=-1)
        return distance
    out = h0.new_empty(h0.shape[:-1])

    @torch.no_grad()
    def work(rows: slice) -> None:
        apart = h0[..., rows, :] - aggregate[..., rows, :]
        out[..., rows] = torch.linalg.vector_norm(apart, dim=-1)

    each_block(work, row_blocks(h0.shape[-2], BLOCK_ROWS))
    return out


def moments(measure: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation over the nodes; the deviation of a constant is 0. ``[..., n]`` to 1."""
    mean = measure.mean(-1, keepdim=True)
    deviation = (measure - mean).square().mean(-1, keepdim=True).sqrt()
    flat = deviation <= 1e-7 * measure.abs().amax(-1, keepdim=True)
    return mean, torch.where(flat, 0.0, deviation)


def standardised(measure: Tensor, by: tuple[Tensor, Tensor] | None = None) -> Tensor:
    """Zero mean and unit variance over the nodes, ``[..., n]``; a constant measure becomes zero.

    Raw degrees and norms differ by orders of magnitude and would saturate the controllers.

    Args:
        by: mean and deviation of all nodes where the measure is that of some; None for its own.
    """
    mean, deviation = moments(measure) if by is None else by
    flat = deviation == 0
    return torch.where(flat, 0.0, (measure - mean) / torch.where(flat, 1.0, deviation))


def influence(edge_index: Tensor, num_nodes: int) -> Tensor:
    """The part of z that never changes: log(1 + d_i) and ec_i, standardised. Shape ``[n, 2]``."""
    measures = [
        degree_centrality(edge_index, num_nodes).log1p(),
        eigenvector_centrality(edge_index, num_nodes),
    ]
    return torch.stack([standardised(m) for m in measures], dim=1)


def influence_by_rows(
    starts: Tensor, columns: Tensor, *, tolerance: float = 1e-9, iterations: int = 1000
) -> Tensor:
    """The same as :func:`influence` for edges by rows, in blocks. Shape ``[n, 2]``.

    Args:
        starts: where the neighbours of each node begin. Shape ``[n + 1]``.
        columns: neighbours, both directions, sorted in each row. Shape ``[E]``.
    """

    def step(ec: Tensor) -> Tensor:
        return neighbour_sums(starts, columns, ec).add_(ec)

    ec = _leading(step, starts.shape[0] - 1, tolerance, iterations)
    measures = [starts.diff().to(torch.float64).log1p(), ec]
    return torch.stack([standardised(m) for m in measures], dim=1)
