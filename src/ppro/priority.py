"""Priority measures of a node: degree, eigenvector centrality, heterophily degree (Eq. 3-6)."""

from __future__ import annotations

import torch
from torch import Tensor

from ppro.sparse import csr


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
    ec = torch.full((num_nodes, 1), num_nodes**-0.5, dtype=torch.float64)
    for _ in range(iterations):
        previous, ec = ec, torch.addmm(ec, A, ec)
        ec = ec / ec.norm()
        if float((ec - previous).abs().max()) < tolerance:
            break
    return ec.squeeze(1)


def heterophily_degree(h0: Tensor, aggregate: Tensor) -> Tensor:
    """he_i = ‖h_i^(0) - ĥ_i^(1)‖ (Eq. 5). Shapes: ``[..., n, d]`` twice to ``[..., n]``."""
    distance: Tensor = torch.linalg.vector_norm(h0 - aggregate, dim=-1)
    return distance


def standardised(measure: Tensor) -> Tensor:
    """Zero mean and unit variance over the nodes, ``[..., n]``; a constant measure becomes zero.

    Raw degrees and norms differ by orders of magnitude and would saturate the controllers.
    """
    centred = measure - measure.mean(-1, keepdim=True)
    deviation = centred.square().mean(-1, keepdim=True).sqrt()
    flat = deviation <= 1e-7 * measure.abs().amax(-1, keepdim=True)
    return torch.where(flat, 0.0, centred / torch.where(flat, 1.0, deviation))


def influence(edge_index: Tensor, num_nodes: int) -> Tensor:
    """The part of z that never changes: log(1 + d_i) and ec_i, standardised. Shape ``[n, 2]``."""
    measures = [
        degree_centrality(edge_index, num_nodes).log1p(),
        eigenvector_centrality(edge_index, num_nodes),
    ]
    return torch.stack([standardised(m) for m in measures], dim=1)
