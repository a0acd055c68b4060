from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.data import load_graph, noised_nodes, with_noise
from ppro.data.large import generate_large, read_large
from ppro.data.large.plan import LargePlan
from ppro.errors import DataError
from ppro.graph.core import Graph

seeds = st.integers(0, 2**32)
shares = st.floats(0, 1)


def pairs(graph: Graph) -> set[tuple[int, int]]:
    return {(a, b) for a, b in graph.edge_index.T.tolist() if a < b}


@settings(deadline=None, max_examples=40)
@given(shares, seeds, st.integers(10, 60))
def test_only_edges_of_noised_nodes_change(share: float, seed: int, nodes: int) -> None:
    graph = load_graph("csbm", options={"nodes": nodes, "degree": 4}, seed=3)
    noised = noised_nodes(nodes, share, seed)
    assert noised.sum() == round(share * nodes)
    found = with_noise(graph, share, seed)
    before, after = pairs(graph), pairs(found)
    quiet = {(a, b) for a, b in before if not (noised[a] or noised[b])}
    assert quiet <= after
    assert all(noised[a] or noised[b] for a, b in after - before)
    assert len(after) <= len(before)
    both = torch.cat([found.edge_index, found.edge_index.flip(0)], 1)
    assert torch.unique(both, dim=1).shape == found.edge_index.shape
    assert bool((found.edge_index[0] != found.edge_index[1]).all())


@settings(deadline=None, max_examples=20)
@given(shares, seeds)
def test_the_same_seed_gives_the_same_graph(share: float, seed: int) -> None:
    graph = load_graph("csbm", options={"nodes": 50})
    one, two = (with_noise(graph, share, seed) for _ in range(2))
    assert torch.equal(one.edge_index, two.edge_index)


def test_more_noise_keeps_the_noised_nodes() -> None:
    few, many = noised_nodes(200, 0.2, 5), noised_nodes(200, 0.6, 5)
    assert bool((many | ~few).all())
    assert not np.array_equal(few, noised_nodes(200, 0.2, 6))


def test_noised_nodes_have_random_neighbours() -> None:
    options = {"nodes": 4000, "classes": 4, "homophily": 1.0, "degree": 8}
    graph = load_graph("csbm", options={**options, "noise": 0.5}, seed=2)
    noised = torch.from_numpy(noised_nodes(4000, 0.5, 2))
    source, target = graph.edge_index
    same = graph.labels[source] == graph.labels[target]
    touched = noised[source] | noised[target]
    assert float(same[touched].float().mean()) == pytest.approx(0.25, abs=0.02)
    assert bool(same[~touched].all())
    clean = load_graph("csbm", options=options, seed=2)
    assert torch.equal(graph.features, clean.features)
    assert torch.equal(graph.labels, clean.labels)
    assert graph.num_edges == pytest.approx(clean.num_edges, rel=0.01)


def test_weights_go_with_their_edges() -> None:
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    labels = torch.arange(40) % 2
    graph = Graph.build("w", edges, torch.eye(40), labels, edge_weight=weight)
    found = with_noise(graph, 1.0, 1)
    assert found.edge_weight is not None
    assert sorted(found.edge_weight.tolist()) == sorted(2 * weight.tolist())


def test_no_noise_is_the_graph_itself() -> None:
    graph = load_graph("csbm", options={"nodes": 50})
    assert with_noise(graph, 0.0) is graph
    assert torch.equal(
        load_graph("csbm", options={"nodes": 50, "noise": 0}).edge_index, graph.edge_index
    )


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_beyond_one_is_refused(share: float) -> None:
    with pytest.raises(DataError, match=r"csbm: noise is .*, expected a number from 0 to 1"):
        load_graph("csbm", options={"noise": share})


def test_a_graph_on_disk_takes_no_noise(tmp_path: Path) -> None:
    generate_large(tmp_path, LargePlan(nodes=200, classes=3, features=8, degree=4))
    graph, _ = read_large(tmp_path)
    with pytest.raises(DataError, match="noise needs the edges in memory; leave the option out"):
        with_noise(graph, 0.5)


@pytest.mark.data
def test_a_real_graph_takes_noise(real_data: Path) -> None:
    graph = load_graph("cora", data_root=real_data, offline=True, options={"noise": "0.5"})
    assert graph.num_edges == pytest.approx(5278, rel=0.01)
