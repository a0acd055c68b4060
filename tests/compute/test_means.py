"""Means over neighbours, node by node."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from ppro.compute.means import Averaging
from ppro.compute.propagation import Adjacency
from ppro.parts.choices import Normalisation
from tests.support import connected_edges, edge_mask, noise_of, tensor64

NODES = 12


@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("dropped", [False, True])
def test_the_mean_is_of_the_neighbours_alone(
    normalisation: Normalisation, self_loops: bool, dropped: bool
) -> None:
    edges = connected_edges(NODES - 1, 3)  # The last node has no neighbour.
    form = {"normalisation": normalisation, "self_loops": self_loops, "dtype": torch.float64}
    adjacency = Adjacency.build(edges, NODES, **form)  # type: ignore[arg-type]
    drop = replace(noise_of([4, 9], 0.0, 3), edge_rates=torch.tensor([0.3, 0.6]))
    mask = edge_mask(drop, NODES) if dropped else torch.ones(2, NODES, NODES).double()
    dense = torch.zeros(2, NODES, NODES, dtype=torch.float64)
    for i in range(NODES):
        near = [j for a, j in edges.T.tolist() if a == i]
        for j in near:
            dense[:, i, j] = mask[:, i, j] / len(near)
    h = tensor64(2, NODES, 4).requires_grad_()
    averaging = Averaging()
    means = averaging.means(adjacency.dropped(drop) if dropped else adjacency)
    torch.testing.assert_close(means.matmul(h), dense @ h)
    ours, theirs = (
        torch.autograd.grad((product * tensor64(2, NODES, 4, seed=5)).sum(), h)[0]
        for product in (means.matmul(h), dense @ h)
    )
    torch.testing.assert_close(ours, theirs)
    assert averaging.means(adjacency) is averaging.means(adjacency)
