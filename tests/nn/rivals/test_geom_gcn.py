from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ppro.compute.noise import Noise
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.nn.rivals.geom_gcn import (
    MOST_NODES,
    RELATIONS,
    GeomGCN,
    RelationInputs,
    latent_pairs,
    relations,
)
from ppro.nn.rivals.isomap import places
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from tests.support import CPU, both_directions, connected_edges, noise_of, small_settings, tensor64

ONE = np.zeros(5, dtype=np.int32)
LINE = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [3.5, 0.0], [9.0, 0.0]])


def graph_of(nodes: int = 14, seed: int = 3) -> Graph:
    x = tensor64(nodes, 6, seed=seed).float()
    return Graph.build("g", connected_edges(nodes, seed), x, torch.arange(nodes) % 3)


def listed(pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in pairs.T]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (0, []),
        (1, [(2, 3), (3, 2)]),
        (2, [(0, 1), (1, 0), (2, 3), (3, 2)]),
        (10, [(i, j) for i in range(5) for j in range(5) if i != j]),
    ],
)
def test_the_nearest_pairs_are_latent(wanted: int, expected: list[tuple[int, int]]) -> None:
    assert listed(latent_pairs(LINE, ONE, wanted)) == expected


def test_nodes_in_one_place_are_pairs_together() -> None:
    where = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [9.0, 9.0]])
    assert len(listed(latent_pairs(where, ONE, 1))) == 6


def test_components_are_never_near() -> None:
    component = np.array([0, 1, 0, 1, 1], dtype=np.int32)
    found = listed(latent_pairs(LINE, component, 4))
    assert found
    assert all(component[i] == component[j] for i, j in found)


def test_relations_hold_every_edge_once_and_every_node() -> None:
    graph = graph_of()
    dense = torch.stack([a.matrix.to_dense() for a in relations(graph.edge_index.numpy(), 14)])
    assert len(dense) == RELATIONS
    assert torch.equal(dense[-1] != 0, torch.eye(14, dtype=torch.bool))
    assert int((dense != 0).sum(0).max()) == 1
    total = dense.sum(0)
    rows, columns = graph.edge_index
    assert bool((total[rows, columns] > 0).all())
    degree = (total > 0).sum(1).double()
    expected = (degree[:, None] * degree).rsqrt() * (total > 0)
    torch.testing.assert_close(total.double(), expected, atol=1e-6, rtol=1e-6)


def test_a_quadrant_is_where_the_neighbour_lies() -> None:
    graph = graph_of()
    where = places(graph.edge_index.numpy(), 14)
    for index, a in enumerate(relations(graph.edge_index.numpy(), 14)[:8]):
        for i, j in (a.matrix.to_dense() != 0).nonzero().tolist():
            right, above = where[j] > where[i]
            assert index % 4 == 2 * right + above


def test_logits_by_hand() -> None:
    graph, settings = graph_of(), small_settings(model="geom-gcn", feature_norm="none")
    model = build_model(6, 3, [settings], CPU)
    inputs = prepare_inputs(graph, settings, CPU)
    assert isinstance(model, GeomGCN)
    assert isinstance(inputs, RelationInputs)
    dense = [a.matrix.to_dense().double() for a in inputs.relations]
    first, second = (w[0].double().chunk(RELATIONS, dim=1) for w in (model.weight1, model.weight2))
    x = graph.features.double()
    h = torch.relu(torch.cat([a @ x @ w for a, w in zip(dense, first, strict=True)], dim=1))
    expected = torch.stack([a @ h @ w for a, w in zip(dense, second, strict=True)]).mean(0)
    outcome = model(inputs, all_rows(graph, 1, CPU))
    torch.testing.assert_close(outcome.logits[0].double(), expected, atol=1e-5, rtol=1e-5)
    assert bool((outcome.steps == 2).all())


def test_dropped_edges_drop_from_every_relation() -> None:
    inputs = prepare_inputs(graph_of(), small_settings(model="geom-gcn"), CPU)
    noise = noise_of([4, 9], 0.4, 3)
    noise = Noise(noise.seeds, noise.rates, noise.moment, torch.full((2,), 0.5))
    dropped = inputs.with_dropped_edges(noise)
    assert isinstance(dropped, RelationInputs)
    assert all(a.values is not None and a.values.shape[0] == 2 for a in dropped.relations)


def test_a_large_graph_is_refused() -> None:
    n = MOST_NODES + 1
    labels = torch.arange(n) % 2
    graph = Graph.build("large", both_directions([(0, 1)]), torch.ones(n, 1), labels)
    with pytest.raises(SettingsError, match="at most 10,000 nodes"):
        GeomGCN.prepare(graph, small_settings(model="geom-gcn"), CPU)
