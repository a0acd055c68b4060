from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.nn.rivals.h2gcn import H2GCN, TwoHopInputs, two_hop_pairs
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from tests.support import (
    CPU,
    both_directions,
    connected_edges,
    dense_normalised,
    noise_of,
    small_settings,
    tensor64,
)


def distances(edges: Tensor, nodes: int) -> dict[int, dict[int, int]]:
    graph = nx.Graph(edges.T.tolist())
    graph.add_nodes_from(range(nodes))
    return dict(nx.all_pairs_shortest_path_length(graph))


pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20)


@given(pairs)
def test_two_hop_pairs_are_exactly_two_steps_apart(chosen: list[tuple[int, int]]) -> None:
    edges = both_directions(chosen)
    found = [tuple(pair) for pair in two_hop_pairs(edges, 9).T.tolist()]
    steps = distances(edges, 9)
    expected = [(i, j) for i in range(9) for j in range(9) if steps[i].get(j) == 2]
    assert found == expected


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("self_loops", [True, False])
def test_logits_by_hand(rounds: int, self_loops: bool) -> None:
    edges, x = connected_edges(14, 3), tensor64(14, 6, seed=3).float()
    graph = Graph.build("g", edges, x, torch.arange(14) % 3)
    settings = small_settings(
        model="h2gcn", max_steps=rounds, self_loops=self_loops, feature_norm="none"
    )
    model = build_model(6, 3, [settings], CPU)
    assert isinstance(model, H2GCN)
    one = dense_normalised(edges, 14, self_loops=False)
    two = dense_normalised(two_hop_pairs(edges, 14), 14, self_loops=False)
    r = torch.relu(x.double() @ model.embedding[0].double())
    seen = [r]
    for _ in range(rounds):
        r = torch.cat([one @ r, two @ r], dim=1)
        seen.append(r)
    expected = torch.cat(seen, dim=1) @ model.output[0].double()
    found = model(prepare_inputs(graph, settings, CPU), all_rows(graph, 1, CPU)).logits[0]
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)


def test_dropped_edges_drop_from_both_adjacencies() -> None:
    edges = connected_edges(14, 3)
    graph = Graph.build("g", edges, torch.eye(14), torch.arange(14) % 3)
    inputs = prepare_inputs(graph, small_settings(model="h2gcn", max_steps=1), CPU)
    assert isinstance(inputs, TwoHopInputs)
    noise = noise_of([4, 9], 0.4, 3)
    noise = Noise(noise.seeds, noise.rates, noise.moment, torch.full((2,), 0.5))
    dropped = inputs.with_dropped_edges(noise)
    for adjacency in (dropped.adjacency, dropped.two_hop):
        assert adjacency.values is not None
        assert 0 < int((adjacency.values == 0).sum()) < adjacency.values.numel()


def test_too_many_rounds_are_refused() -> None:
    with pytest.raises(SettingsError, match="set max_steps to 1 or 2"):
        build_model(6, 3, [small_settings(model="h2gcn", max_steps=10)], CPU)


def test_a_star_has_its_leaves_two_steps_apart() -> None:
    found = two_hop_pairs(both_directions((0, leaf) for leaf in range(1, 200)), 200)
    assert found.shape[1] == 199 * 198
    assert not np.isin(0, found.numpy())
