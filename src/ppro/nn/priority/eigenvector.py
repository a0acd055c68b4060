"""Eigenvector centrality."""

from typing import ClassVar

import torch
from torch import Tensor

from ppro.nn.priority.base import Measure
from ppro.nn.priority.edges import Edges

TOLERANCE, ITERATIONS = 1e-9, 1000


class Eigenvector(Measure):
    """ec ∝ A ec, the leading eigenvector of A (Eq. 4)."""

    name: ClassVar[str] = "eigenvector"
    title: ClassVar[str] = "eigenvector centrality"

    def of_graph(self, edges: Edges) -> Tensor:
        """Return ec_i."""
        return eigenvector_centrality(edges)


def eigenvector_centrality(
    edges: Edges, *, tolerance: float = TOLERANCE, iterations: int = ITERATIONS
) -> Tensor:
    """Return the leading eigenvector of A, of unit length, by power iteration. Shape ``[n]``.

    It runs on A + I: the eigenvectors are those of A, and bipartite parts, whose spectrum is
    symmetric, converge too.
    """
    ec = torch.full((edges.num_own,), edges.num_nodes**-0.5, dtype=torch.float64)
    for _ in range(iterations):
        previous, ec = ec, edges.with_neighbours(ec)
        ec = ec / edges.length(ec)
        if edges.largest(ec - previous) < tolerance:
            break
    return ec
