from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.errors import DataError
from ppro.graph.core import Graph, undirected

pair_lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15)


def build(**changes: Any) -> Graph:
    parts: dict[str, Any] = {
        "name": "toy",
        "edges": torch.tensor([[0, 1], [1, 2]]),
        "features": torch.eye(3),
        "labels": torch.tensor([0, 1, -1]),
    }
    return Graph.build(**{**parts, **changes})


def test_a_graph_has_the_stored_form() -> None:
    graph = build(edges=torch.tensor([[2, 1, 1, 0], [1, 0, 1, 1]], dtype=torch.int32))
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (3, 2, 3, 2)
    assert graph.class_names == ("0", "1")
    assert graph.features.dtype == torch.float32
    assert graph.labels.dtype == torch.int64


BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("labels must be one whole number", {"labels": torch.zeros(3)}),
    ("labels must be one whole number", {"labels": torch.zeros(3, 1, dtype=torch.int64)}),
    ("labels must be one whole number", {"labels": torch.zeros(0, dtype=torch.int64)}),
    ("label -2 of node 1 is negative", {"labels": torch.tensor([0, -2, 1])}),
    ("only one class", {"labels": torch.zeros(3, dtype=torch.int64)}),
    ("only one class", {"labels": torch.full((3,), -1)}),
    ("features have shape", {"features": torch.eye(4)}),
    ("features have shape", {"features": torch.ones(3)}),
    ("features have shape", {"features": torch.ones(3, 0)}),
    ("dense or sparse CSR", {"features": torch.eye(3).to_sparse()}),
    ("1 feature values are NaN or infinite", {"features": torch.tensor([[torch.nan], [0], [1]])}),
    (
        "2 feature values are NaN or infinite",
        {"features": torch.tensor([[torch.inf, -torch.inf], [0, 1], [1, 1]]).to_sparse_csr()},
    ),
    ("edges must be whole numbers", {"edges": torch.ones(2, 2)}),
    ("edges must be whole numbers", {"edges": torch.ones(3, 2, dtype=torch.int64)}),
    ("edge 1 joins 1 and 3", {"edges": torch.tensor([[0, 1], [1, 3]])}),
    ("edge 0 joins -1 and 1", {"edges": torch.tensor([[-1, 1], [1, 2]])}),
    (r"edge weights of shape \(1,\) for 2 edges", {"edge_weight": torch.ones(1)}),
    ("edges of type list; give a tensor", {"edges": [[0, 1], [1, 2]]}),
    ("labels of type list; give a tensor", {"labels": [0, 1, 1]}),
    ("features of type list; give a tensor", {"features": [[1.0], [2.0], [3.0]]}),
    ("edge_weight of type list; give a tensor", {"edge_weight": [1.0, 2.0]}),
    ("positive and finite", {"edge_weight": torch.tensor([1.0, 0.0])}),
    ("positive and finite", {"edge_weight": torch.tensor([1.0, torch.nan])}),
    ("label 1 has no name", {"class_names": ["a"]}),
    ("3 nodes but 2 distinct node ids", {"node_ids": ["a", "b", "a"]}),
]


@pytest.mark.parametrize(("message", "changes"), BROKEN)
def test_a_broken_part_is_named(message: str, changes: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=message) as caught:
        build(**changes)
    assert str(caught.value).startswith("toy: ")


def test_names_and_ids_are_kept() -> None:
    graph = build(class_names=["cat", "dog", "cow"], node_ids=["x", "y", "z"])
    assert graph.num_classes == 3
    assert graph.node_ids == ("x", "y", "z")


def test_a_graph_may_have_no_edges() -> None:
    graph = build(edges=torch.empty(2, 0, dtype=torch.int64))
    assert graph.num_edges == 0


@settings(deadline=None, max_examples=50)
@given(pair_lists)
def test_undirected_keeps_each_edge_once_in_both_directions(pairs: list[tuple[int, int]]) -> None:
    edges = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    found, weight = undirected(edges, None, 7)
    expected = sorted({p for a, b in pairs if a != b for p in ((a, b), (b, a))})
    assert [tuple(p) for p in found.T.tolist()] == expected
    assert weight is None


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), max_size=12))
def test_undirected_keeps_the_largest_weight(triples: list[tuple[int, int, int]]) -> None:
    edges = torch.tensor([t[:2] for t in triples], dtype=torch.int64).reshape(-1, 2).T
    found, weight = undirected(edges, torch.tensor([float(t[2]) for t in triples]), 5)
    assert weight is not None
    best: dict[tuple[int, int], float] = {}
    for a, b, w in triples:
        if a != b:
            for pair in ((a, b), (b, a)):
                best[pair] = max(best.get(pair, 0.0), float(w))
    pairs = [(int(a), int(b)) for a, b in found.T]
    assert dict(zip(pairs, weight.tolist(), strict=True)) == best
