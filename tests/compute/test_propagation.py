from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

from ppro.compute.propagation import Adjacency, selected_recursion
from ppro.parts.choices import Normalisation
from tests.support import (
    both_directions,
    connected_edges,
    dense_normalised,
    edge_mask,
    noise_of,
    tensor64,
)

NORMALISATIONS: list[Normalisation] = ["symmetric", "row"]
EDGE_NOISE = replace(
    noise_of([3, 8], [0.9, 0.9], 5), edge_rates=torch.tensor([0.25, 0.5], dtype=torch.float64)
)
pair_lists = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


def built(
    n: int, seed: int, normalisation: Normalisation = "symmetric", *, directed: bool = False
) -> Adjacency:
    edges = connected_edges(n, seed)
    if directed:
        # A node reads from some of its neighbours only, from node 0 nobody does.
        edges = edges[:, ((edges[0] + 2 * edges[1]) % 5 > 1) & (edges[1] > 0)]
    return Adjacency.build(
        edges, n, normalisation=normalisation, directed=directed, dtype=torch.float64
    )


def applied(dense: Tensor, h: Tensor) -> Tensor:
    """Â h of every run, from one matrix or one per run."""
    return torch.einsum("rij,rjd->rid", dense.expand(h.shape[0], -1, -1), h)


@settings(deadline=None, max_examples=40)
@given(pair_lists, st.sampled_from(NORMALISATIONS), *[st.booleans()] * 3)
def test_build_is_the_textbook_normalisation(
    pairs: list[tuple[int, int]],
    normalisation: Normalisation,
    self_loops: bool,
    weighted: bool,
    directed: bool,
) -> None:
    edges = both_directions(pairs)
    if directed:
        edges = torch.tensor(sorted({p for p in pairs if p[0] != p[1]}), dtype=torch.int64)
        edges = edges.reshape(-1, 2).T
    weight = None
    if weighted:
        # The same weight in both directions: it depends on the unordered pair alone.
        weight = 0.5 + (edges[0] * edges[1] + edges.sum(0)).float()
    found = Adjacency.build(
        edges,
        8,
        edge_weight=weight,
        normalisation=normalisation,
        self_loops=self_loops,
        directed=directed,
        dtype=torch.float64,
    )
    expected = dense_normalised(
        edges, 8, weight=weight, normalisation=normalisation, self_loops=self_loops
    )
    torch.testing.assert_close(found.matrix.to_dense(), expected)
    torch.testing.assert_close(found.adjoint.to_dense(), expected.T.contiguous())


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_an_isolated_node_has_a_row_of_zeros_or_its_own_loop(normalisation: Normalisation) -> None:
    edges = torch.tensor([[0, 1], [1, 0]])
    bare = Adjacency.build(edges, 3, normalisation=normalisation, self_loops=False)
    assert bare.matrix.to_dense()[2].tolist() == [0, 0, 0]
    looped = Adjacency.build(edges, 3, normalisation=normalisation)
    assert looped.matrix.to_dense()[2].tolist() == [0, 0, 1]


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("directed", [False, True])
def test_the_products_are_dense_products(
    normalisation: Normalisation, dropped: bool, directed: bool
) -> None:
    adjacency = built(7, 4, normalisation, directed=directed)
    dense = adjacency.matrix.to_dense().unsqueeze(0)
    if dropped:
        adjacency = adjacency.dropped(EDGE_NOISE)
        dense = dense * edge_mask(EDGE_NOISE, 7)
    h, other = tensor64(2, 7, 3), tensor64(2, 7, 3, seed=1)
    torch.testing.assert_close(adjacency.matmul(h), applied(dense, h))
    torch.testing.assert_close(
        adjacency.adjoint_product(h, 0.3), 0.3 * applied(dense.transpose(1, 2), h)
    )
    mixed = adjacency.mix_into(torch.full_like(h, torch.nan), h, other, 0.3)
    torch.testing.assert_close(mixed, 0.7 * applied(dense, h) + 0.3 * other)
    assert gradcheck(adjacency.matmul, (h.requires_grad_(),))


def test_edge_dropout_keeps_a_symmetric_adjacency_symmetric_and_differs_between_runs() -> None:
    mask = edge_mask(EDGE_NOISE, 7)
    assert torch.equal(mask, mask.transpose(1, 2))
    assert not torch.equal(mask[0] > 0, mask[1] > 0)
    identity = torch.eye(7, dtype=torch.float64).expand(2, -1, -1).contiguous()
    read_out = built(7, 4).dropped(EDGE_NOISE).matmul(identity)
    torch.testing.assert_close(read_out, read_out.transpose(1, 2))


@pytest.mark.parametrize("rate", [0.2, 0.7])
def test_edge_dropout_respects_its_rate(rate: float) -> None:
    n = 120
    noise = replace(noise_of([1], 0.0, 0), edge_rates=torch.tensor([rate]))
    complete = both_directions((i, j) for i in range(n) for j in range(i))
    identity = torch.eye(n).unsqueeze(0)
    read_out = Adjacency.build(complete, n).dropped(noise).matmul(identity)[0]
    count = n * (n + 1) // 2
    lost = count - int((torch.tril(read_out) != 0).sum())
    assert abs(lost - rate * count) <= 5 * (count * rate * (1 - rate)) ** 0.5


def unrolled(h0: Tensor, dense: Tensor, alpha: float, depth: int) -> list[Tensor]:
    """Every h_k of h_k = (1-α) Â h_{k-1} + α h_0."""
    h = [h0]
    for _ in range(depth):
        h.append((1 - alpha) * applied(dense, h[-1]) + alpha * h0)
    return h


def read(h: list[Tensor], steps: Tensor, nodes: Tensor) -> Tensor:
    """h_{l_i} of each row, one by one."""
    runs, m = steps.shape
    picked = [[h[int(steps[r, i])][r, nodes[r, i]] for i in range(m)] for r in range(runs)]
    return torch.stack([torch.stack(row) for row in picked])


def positions(nodes: Tensor, n: int) -> Tensor:
    return nodes + n * torch.arange(nodes.shape[0]).unsqueeze(1)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    runs=st.integers(1, 3),
    depth=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 0.1, 0.9]),
    normalisation=st.sampled_from(NORMALISATIONS),
    directed=st.booleans(),
)
def test_selected_recursion_has_the_gradient_of_the_unrolled_recursion(
    seed: int, runs: int, depth: int, alpha: float, normalisation: Normalisation, directed: bool
) -> None:
    n, m = 8, 6
    rng = torch.Generator().manual_seed(seed)
    # Rows may repeat, as padding does, and 0 and L always occur.
    nodes = torch.randint(n, (runs, m), generator=rng)
    steps = torch.randint(depth + 1, (runs, m), generator=rng)
    steps[0, 0], steps[0, 1] = 0, depth
    adjacency = built(n, seed, normalisation, directed=directed)
    h0, weights = tensor64(runs, n, 3, seed=seed), tensor64(runs, m, 3, seed=seed + 1)

    plain = h0.clone().requires_grad_()
    expected = read(unrolled(plain, adjacency.matrix.to_dense(), alpha, depth), steps, nodes)
    (expected_gradient,) = torch.autograd.grad((expected * weights).sum(), plain)

    ours, flat = h0.clone().requires_grad_(), positions(nodes, n)
    found = selected_recursion(ours, expected.detach(), steps, flat, adjacency, alpha, depth)
    (gradient,) = torch.autograd.grad((found * weights).sum(), ours)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(gradient, expected_gradient, atol=1e-10, rtol=0)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("directed", [False, True])
def test_selected_recursion_passes_gradcheck(
    alpha: float, normalisation: Normalisation, directed: bool
) -> None:
    adjacency = built(5, 2, normalisation, directed=directed)
    steps, nodes = torch.tensor([[0, 3, 1], [2, 3, 0]]), torch.tensor([[4, 1, 0], [2, 2, 3]])
    dense = adjacency.matrix.to_dense()

    def select(h0: Tensor) -> Tensor:
        with torch.no_grad():
            selected = read(unrolled(h0, dense, alpha, 3), steps, nodes)
        return selected_recursion(h0, selected, steps, positions(nodes, 5), adjacency, alpha, 3)

    assert gradcheck(select, (tensor64(2, 5, 2).requires_grad_(),))


def test_moving_keeps_a_symmetric_adjacency_one_tensor() -> None:
    moved = built(5, 0).to(torch.device("cpu"))
    assert moved.symmetric
    assert not built(5, 0, "row").to(torch.device("cpu")).symmetric
    assert not built(5, 0, directed=True).to(torch.device("cpu")).symmetric
