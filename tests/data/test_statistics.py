from __future__ import annotations

import statistics

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.data import describe
from ppro.graph.core import Graph

nx = pytest.importorskip("networkx")
NODES = 8
edge_lists = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)
label_lists = st.lists(st.integers(0, 2), min_size=NODES, max_size=NODES)


def built(edges: list[tuple[int, int]], labels: list[int]) -> Graph:
    pairs = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    names = ["a", "b", "c"]
    return Graph.build("g", pairs, torch.eye(NODES), torch.tensor(labels), class_names=names)


@settings(deadline=None)
@given(edge_lists, label_lists)
def test_the_numbers_are_those_of_networkx(edges: list[tuple[int, int]], labels: list[int]) -> None:
    reference = nx.Graph(pair for pair in edges if pair[0] != pair[1])
    reference.add_nodes_from(range(NODES))
    found = describe(built(edges, labels))
    degrees = [degree for _, degree in reference.degree]
    assert found["edges"] == reference.number_of_edges()
    assert found["connected_components"] == nx.number_connected_components(reference)
    assert found["isolated_nodes"] == nx.number_of_isolates(reference)
    assert (found["min_degree"], found["max_degree"]) == (min(degrees), max(degrees))
    assert found["median_degree"] == statistics.median(degrees)
    if reference.number_of_edges():
        same = [labels[a] == labels[b] for a, b in reference.edges]
        assert found["edge_homophily"] == pytest.approx(statistics.mean(same))
        shares = [
            statistics.mean(labels[n] == labels[v] for n in reference[v])
            for v in reference
            if reference.degree[v]
        ]
        assert found["node_homophily"] == pytest.approx(statistics.mean(shares))
        chance = sum(
            (sum(reference.degree[v] for v in reference if labels[v] == c) / sum(degrees)) ** 2
            for c in range(3)
        )
        if chance < 1:
            adjusted = (statistics.mean(same) - chance) / (1 - chance)
            assert found["adjusted_homophily"] == pytest.approx(adjusted)
        else:
            assert found["adjusted_homophily"] is None


def test_unlabelled_nodes_are_counted_and_left_out_of_homophily() -> None:
    found = describe(built([(0, 1), (1, 2), (2, 3)], [0, 0, 1, -1, 2, 2, 2, 2]))
    assert found["unlabelled_nodes"] == 1
    assert found["class_counts"] == {"a": 2, "b": 1, "c": 4}
    assert found["edge_homophily"] == 0.5


def test_without_edges_there_is_no_homophily() -> None:
    found = describe(built([], [0, 1, 2, 0, 1, 2, 0, 1]))
    assert found["edge_homophily"] is None
    assert found["node_homophily"] is None
    assert found["adjusted_homophily"] is None
    assert found["connected_components"] == NODES
