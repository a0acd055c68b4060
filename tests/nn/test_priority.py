from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.priority import Edges, Measure, heterophily, influence, standardised
from ppro.nn.priority.eigenvector import eigenvector_centrality
from ppro.nn.priority.heterophily import heterophily_degree
from ppro.parts import MEASURES
from tests.support import both_directions, connected_edges, dense_normalised, tensor64

Array = NDArray[np.float64]

STAR = both_directions((0, i) for i in range(1, 9))
BIPARTITE = both_directions((i, j) for i in range(3) for j in range(3, 8))
PATH = both_directions((i, i + 1) for i in range(6))


def adjacency(edges: Tensor, n: int) -> Array:
    a = np.zeros((n, n))
    for i, j in edges.T.tolist():
        a[i, j] = 1.0
    return a


def leading(edges: Tensor, n: int) -> Tensor:
    vectors = np.linalg.eigh(adjacency(edges, n)).eigenvectors
    return torch.from_numpy(np.abs(vectors[:, -1]))


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 20), st.integers(0, 10**6))
def test_degree_is_the_row_sum_of_the_adjacency(n: int, seed: int) -> None:
    edges = connected_edges(n, seed)
    a = adjacency(edges, n)
    expected = [sum(a[i, j] for j in range(n)) for i in range(n)]
    assert Edges(edges, n).degree().tolist() == expected


def test_a_node_without_neighbours_has_degree_zero() -> None:
    assert Edges(torch.tensor([[0, 2], [2, 0]]), 4).degree().tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("seed", range(6))
def test_eigenvector_centrality_is_the_leading_eigenvector(seed: int) -> None:
    n = 12
    edges = connected_edges(n, seed, extra=20)
    found = eigenvector_centrality(Edges(edges, n))
    torch.testing.assert_close(found, leading(edges, n), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("edges", "n"), [(STAR, 9), (BIPARTITE, 8), (PATH, 7)])
def test_eigenvector_centrality_of_bipartite_graphs(edges: Tensor, n: int) -> None:
    found = eigenvector_centrality(Edges(edges, n))
    torch.testing.assert_close(found, leading(edges, n), atol=1e-6, rtol=0)


def test_eigenvector_centrality_solves_equation_4_up_to_the_eigenvalue() -> None:
    ec = eigenvector_centrality(Edges(STAR, 9))
    product = torch.from_numpy(adjacency(STAR, 9)) @ ec
    torch.testing.assert_close(product, math.sqrt(8) * ec, atol=1e-6, rtol=0)
    assert float(ec.norm()) == pytest.approx(1)


def test_eigenvector_centrality_of_a_graph_without_edges_is_uniform() -> None:
    found = eigenvector_centrality(Edges(torch.empty(2, 0, dtype=torch.int64), 4))
    torch.testing.assert_close(found, torch.full((4,), 0.5, dtype=torch.float64))


def test_heterophily_degree_is_the_distance_to_the_aggregate() -> None:
    n, runs, d = 9, 2, 4
    a_hat = dense_normalised(connected_edges(n, 0), n)
    h0 = tensor64(runs, n, d)
    aggregate = torch.einsum("ij,rjd->rid", a_hat, h0)
    found = heterophily_degree(h0, aggregate)
    for i in range(n):
        for r in range(runs):
            total = 0.0
            for c in range(d):
                seen = sum(float(a_hat[i, j]) * float(h0[r, j, c]) for j in range(n))
                total += (float(h0[r, i, c]) - seen) ** 2
            assert float(found[r, i]) == pytest.approx(math.sqrt(total), abs=1e-12)


def loop_standardised(values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / deviation for v in values]


def test_influence_is_log_degree_and_centrality_standardised() -> None:
    n = 12
    edges = connected_edges(n, 3)
    a = adjacency(edges, n)
    degrees = [math.log(1 + sum(a[i])) for i in range(n)]
    columns = [loop_standardised(degrees), loop_standardised(leading(edges, n).tolist())]
    expected = torch.tensor(columns, dtype=torch.float64).T
    found = influence(Edges(edges, n), ("degree", "eigenvector", "heterophily"))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(0.01, 100))
def test_standardised_has_mean_0_variance_1_and_ignores_scale(
    values: list[float], factor: float
) -> None:
    measure = torch.tensor(values, dtype=torch.float64)
    found = standardised(measure)
    assert bool(torch.isfinite(found).all())
    if float(measure.max() - measure.min()) > 1e-2:
        assert float(found.mean()) == pytest.approx(0, abs=1e-9)
        assert float(found.square().mean()) == pytest.approx(1, abs=1e-9)
        torch.testing.assert_close(standardised(measure * factor), found, atol=1e-7, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_measure_becomes_zero(dtype: torch.dtype) -> None:
    constant = torch.full((1000,), 1 / 3, dtype=dtype)
    assert bool((standardised(constant) == 0).all())


def test_heterophily_degree_of_many_nodes_is_taken_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    h0, aggregate = tensor64(2, 30, 4), tensor64(2, 30, 4, seed=1)
    expected = heterophily_degree(h0, aggregate)
    monkeypatch.setattr(heterophily, "MANY_NODES", 1)
    monkeypatch.setattr(heterophily, "BLOCK_ROWS", 7)
    assert torch.equal(heterophily_degree(h0, aggregate), expected)
    learnt = heterophily_degree(h0.requires_grad_(), aggregate)
    assert learnt.requires_grad


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (torch.ones(3), r"'mine': of_graph gives shape \(3,\) for 7 nodes"),
        (torch.ones(7, 1), r"gives shape \(7, 1\)"),
        (torch.full((7,), torch.nan), "gives NaN or infinite numbers"),
        (np.full(7, np.inf), "gives NaN or infinite numbers"),
    ],
)
def test_a_measure_of_one_s_own_must_speak_of_each_node(
    monkeypatch: pytest.MonkeyPatch, values: Tensor | Array, told: str
) -> None:
    class Mine(Measure):
        def of_graph(self, edges: Edges) -> Tensor:
            return values  # type: ignore[return-value]

    Mine.name = "mine"
    monkeypatch.setitem(MEASURES._parts, "mine", Mine)
    with pytest.raises(SettingsError, match=told):
        influence(Edges(PATH, 7), ["mine"])
    values = np.arange(7.0)
    assert float(influence(Edges(PATH, 7), ["mine"]).mean().abs()) < 1e-12
