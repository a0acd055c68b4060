from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute import edge_rows as by_rows
from ppro.compute.edge_rows import looped, neighbour_sums
from ppro.compute.propagation import Adjacency
from ppro.nn.priority import Edges, RowEdges, influence
from ppro.parts.choices import Normalisation
from tests.support import both_directions, tensor64

NODES = 12
pair_lists = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda p: p[0] != p[1]),
    max_size=30,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_rows, "BLOCK_ROWS", 5)


def starts_and_columns(edges: Tensor) -> tuple[Tensor, Tensor]:
    counts = torch.bincount(edges[0], minlength=NODES)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)]), edges[1].int()


@settings(deadline=None, max_examples=40)
@given(pair_lists, st.sampled_from(["symmetric", "row"]), st.booleans())
def test_the_adjacency_by_rows_is_that_of_the_pairs(
    pairs: list[tuple[int, int]], normalisation: Normalisation, self_loops: bool
) -> None:
    edges = both_directions(pairs)
    expected = Adjacency.build(edges, NODES, normalisation=normalisation, self_loops=self_loops)
    found = Adjacency.from_rows(
        *starts_and_columns(edges), normalisation=normalisation, self_loops=self_loops
    )
    assert found.symmetric == expected.symmetric
    for one, other in ((found.matrix, expected.matrix), (found.adjoint, expected.adjoint)):
        assert torch.equal(one.crow_indices(), other.crow_indices())
        assert torch.equal(one.col_indices(), other.col_indices())
        assert torch.equal(one.values(), other.values())
        assert one.col_indices().dtype == torch.int32


@settings(deadline=None, max_examples=40)
@given(pair_lists)
def test_each_node_joins_its_own_row_in_order(pairs: list[tuple[int, int]]) -> None:
    starts, columns = looped(*starts_and_columns(both_directions(pairs)))
    expected = {(i, j) for i, j in both_directions(pairs).T.tolist()} | {
        (i, i) for i in range(NODES)
    }
    found = [
        (i, int(j)) for i in range(NODES) for j in columns[int(starts[i]) : int(starts[i + 1])]
    ]
    assert found == sorted(expected)


@settings(deadline=None, max_examples=40)
@given(pair_lists)
def test_sums_over_neighbours(pairs: list[tuple[int, int]]) -> None:
    edges, x = both_directions(pairs), tensor64(NODES)
    expected = torch.zeros(NODES, dtype=torch.float64)
    for i, j in edges.T.tolist():
        expected[i] += x[j]
    torch.testing.assert_close(neighbour_sums(*starts_and_columns(edges), x), expected)


@settings(deadline=None, max_examples=20)
@given(pair_lists.filter(bool))
def test_influence_by_rows_is_that_of_the_pairs(pairs: list[tuple[int, int]]) -> None:
    edges = both_directions(pairs)
    found = influence(RowEdges(*starts_and_columns(edges)), ("degree", "eigenvector"))
    expected = influence(Edges(edges, NODES), ("degree", "eigenvector"))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
