from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from ppro import as_graph
from ppro.data import with_noise
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.direction import check_direction, read_edges, seems_directed

NODES = 6
MIXED = [(0, 1), (1, 0), (1, 2), (3, 2), (4, 5)]
"""One pair both ways, three one way."""
triples = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(1, 9)), max_size=20
)


def built(pairs: list[tuple[int, int]], **more: Any) -> Graph:
    edges = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    labels = torch.arange(NODES) % 2
    return Graph.build("toy", edges, torch.eye(NODES), labels, **more)


@settings(deadline=None, max_examples=60)
@given(triples, st.booleans())
def test_a_node_reads_from_one_end(listed: list[tuple[int, int, int]], weighted: bool) -> None:
    weight = torch.tensor([float(w) for *_, w in listed]) if weighted else None
    graph = built([(a, b) for a, b, _ in listed], edge_weight=weight, directed=True)
    arcs: dict[tuple[int, int], float] = {}
    for a, b, w in listed:
        if a != b:
            arcs[a, b] = max(arcs.get((a, b), 0.0), float(w) if weighted else 1.0)
    of_reader = {"out": arcs, "in": {(b, a): w for (a, b), w in arcs.items()}}
    for direction in ("in", "out"):
        pairs, values = read_edges(graph, direction)
        assert [tuple(p) for p in pairs.T.tolist()] == sorted(of_reader[direction])
        if weighted:
            assert values is not None
            assert values.tolist() == [of_reader[direction][p] for p in sorted(arcs_of(pairs))]
        else:
            assert values is None
    one_way = sum((b, a) not in arcs for a, b in arcs)
    assert graph.one_way == pytest.approx(one_way / len(arcs) if arcs else 0.0)


def arcs_of(pairs: torch.Tensor) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in pairs.T]


@settings(deadline=None, max_examples=30)
@given(triples)
def test_read_both_ways_a_graph_is_what_it_was(listed: list[tuple[int, int, int]]) -> None:
    pairs = [(a, b) for a, b, _ in listed]
    known, directed = built(pairs, directed=False), built(pairs, directed=True)
    assert known.arcs is None
    assert torch.equal(known.edge_index, directed.edge_index)
    assert read_edges(directed, "both") == (directed.edge_index, None)


def test_a_direction_is_kept_where_there_is_one() -> None:
    once = [(0, 1), (2, 1)]
    assert built(once).arcs is None
    assert built(once, directed=True).arcs is not None
    both = [*once, (1, 0), (1, 2)]
    assert built(both, directed=True).arcs is None
    assert built(MIXED).arcs is not None
    assert built(MIXED, directed=False).arcs is None
    uneven = built(both, edge_weight=torch.tensor([1.0, 1.0, 2.0, 1.0]))
    assert uneven.arcs is not None
    assert uneven.one_way == 0


def test_only_edges_of_both_kinds_seem_directed() -> None:
    assert seems_directed(built(MIXED))
    assert not seems_directed(built([(0, 1), (2, 1)], directed=True))
    assert not seems_directed(built([(0, 1), (1, 0)]))


def test_other_libraries_tell_the_direction() -> None:
    x, y = torch.eye(NODES), torch.arange(NODES) % 2
    edges = torch.tensor(MIXED).T
    expected = built(MIXED).arcs
    assert expected is not None
    matrix = sp.coo_matrix((torch.ones(len(MIXED)), tuple(edges.numpy())), shape=(NODES, NODES))
    for source in (Data(x=x, edge_index=edges, y=y), (matrix, x.numpy())):
        found = as_graph(source, y.numpy()).arcs
        assert found is not None
        assert torch.equal(found, expected)
    for kind, kept in ((nx.DiGraph, True), (nx.Graph, False)):
        made = kind()
        made.add_nodes_from((i, {"x": [float(i)], "y": i % 2}) for i in range(NODES))
        made.add_edges_from([(0, 1), (1, 2)])
        assert (as_graph(made).arcs is not None) == kept


def test_what_has_no_direction_is_refused() -> None:
    check_direction(built(MIXED), "in")
    check_direction(built(MIXED, directed=False), "both")
    with pytest.raises(SettingsError, match=r"toy: its edges have no direction.*direction=both"):
        check_direction(built(MIXED, directed=False), "in")


def test_random_edges_have_no_direction() -> None:
    assert with_noise(built(MIXED), 0.5).arcs is None
    assert replace(built(MIXED), name="other").arcs is not None
