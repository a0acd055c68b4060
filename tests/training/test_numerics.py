"""Graphs at the edge of what is a graph: everything stays finite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro import Graph, PProClassifier, Settings
from ppro.data import Splits
from ppro.nn import losses
from ppro.training.fit import Fit, fit
from ppro.training.stopping import MEASURED

BACKBONES = ("appnp", "gat", "gcn", "gcnii", "sgc")
STRATEGIES = ("l2b", "l2u")


def edges_of(*pairs: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def graph_of(edges: torch.Tensor, nodes: int, **changes: Any) -> Graph:
    rng = np.random.default_rng(0)
    features = torch.from_numpy(rng.normal(size=(nodes, 4)).astype(np.float32))
    labels = torch.arange(nodes) % 2
    parts: dict[str, Any] = {"features": features, "labels": labels, **changes}
    return Graph.build("edge case", edges, **parts)


def trained(graph: Graph, train: list[int], val: list[int], **changes: Any) -> Fit:
    masks = torch.zeros(3, 1, graph.num_nodes, dtype=torch.bool)
    masks[0, 0, train] = masks[1, 0, val] = True
    chosen = Settings(hidden=16, controller_units=4, max_steps=4, epochs=10).replace(**changes)
    return fit(graph, Splits("case", *masks), [chosen])


def check_finite(result: Fit) -> None:
    nodes = result.nodes
    for tensor in (nodes.probabilities, nodes.priorities, result.history.metrics):
        assert bool(torch.isfinite(tensor).all())
    for name, parameter in result.model.named_parameters():
        assert bool(torch.isfinite(parameter).all()), name
    assert torch.allclose(nodes.probabilities.sum(-1), torch.ones(()), atol=1e-5)


RING = edges_of(*((i, (i + 1) % 6) for i in range(6)))
TWO_PARTS = edges_of((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3))
BIPARTITE = edges_of(*((i, j) for i in range(3) for j in range(3, 6)))
GRAPHS = {
    "no edge at all": graph_of(edges_of(), 6),
    "one edge": graph_of(edges_of((0, 1)), 6),
    "two nodes": graph_of(edges_of((0, 1)), 2),
    "isolated nodes": graph_of(edges_of((0, 1), (1, 2)), 6),
    "disconnected": graph_of(TWO_PARTS, 6),
    "bipartite": graph_of(BIPARTITE, 6),
    "ring, all degrees equal": graph_of(RING, 6),
    "constant features": graph_of(RING, 6, features=torch.ones(6, 4)),
    "no features set": graph_of(RING, 6, features=torch.zeros(6, 4)),
    "huge features": graph_of(RING, 6, features=torch.full((6, 4), 1e30)),
    "tiny features": graph_of(RING, 6, features=torch.full((6, 4), 1e-38)),
}


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_at_the_edge_trains(name: str, strategy: str, backbone: str) -> None:
    graph = GRAPHS[name]
    last = graph.num_nodes - 1
    heads = {"heads": 2} if backbone == "gat" else {}
    changes = {"strategy": strategy, "backbone": backbone, **heads}
    check_finite(trained(graph, list(range(last)), [last], **changes))


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("name", ["no edge at all", "isolated nodes"])
def test_isolated_nodes_without_self_loops(name: str, self_loops: bool) -> None:
    check_finite(trained(GRAPHS[name], [0, 1, 2, 3], [4, 5], self_loops=self_loops))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_class_absent_from_training(strategy: str) -> None:
    graph = graph_of(RING, 6, labels=torch.tensor([0, 1, 0, 1, 2, 2]))
    result = trained(graph, [0, 1, 2, 3], [4, 5], strategy=strategy)
    check_finite(result)
    balanced = PProClassifier(epochs=5, class_weight="balanced", device="cpu")
    mask = np.array([True] * 4 + [False] * 2)
    balanced.fit(graph, train_mask=mask, val_mask=~mask)
    assert np.isfinite(balanced.predict_proba(graph)).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_training_node(strategy: str) -> None:
    """Its error is the smallest and the largest: the min-max of Eq. 9 has no span."""
    check_finite(trained(graph_of(RING, 6), [0], [1], strategy=strategy))


def test_all_errors_equal_give_zero_and_a_gradient() -> None:
    error = torch.full((2, 5), 0.7)
    p = torch.full((2, 5), 0.4, requires_grad=True)
    loss = losses.break_loss(error, p, torch.ones(2, 5))
    assert loss.tolist() == pytest.approx([0.6, 0.6])
    (gradient,) = torch.autograd.grad(loss.sum(), p)
    assert bool(torch.isfinite(gradient).all())


def test_equal_nodes_have_equal_errors_in_training() -> None:
    ones = torch.ones(6, 4)
    graph = graph_of(RING, 6, features=ones, labels=torch.tensor([0, 0, 0, 0, 1, 0]))
    result = trained(graph, [0, 1, 2, 3], [4, 5], dropout=0.0)
    check_finite(result)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_ten_thousand_classes(strategy: str) -> None:
    """As many as a graph of few nodes can have: most have none."""
    nodes, classes = 60, 10_000
    labels = torch.arange(nodes) * 166 % classes
    edges = edges_of(*((i, (i + 1) % nodes) for i in range(nodes)))
    named = [str(c) for c in range(classes)]
    graph = replace(graph_of(edges, nodes), labels=labels, class_names=tuple(named))
    result = trained(graph, list(range(40)), list(range(40, 60)), strategy=strategy, epochs=3)
    assert result.nodes.probabilities.shape == (1, nodes, classes)
    check_finite(result)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_thresholds_at_their_ends(strategy: str, epsilon: float) -> None:
    result = trained(graph_of(RING, 6), [0, 1, 2], [3, 4], strategy=strategy, epsilon=epsilon)
    check_finite(result)
    expected = {("l2b", 0.0): 1, ("l2b", 1.0): 4, ("l2u", 0.0): 4, ("l2u", 1.0): 0}
    assert set(result.nodes.steps.flatten().tolist()) == {expected[strategy, epsilon]}


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 9), st.data())
def test_any_small_graph_stays_finite(nodes: int, draw: st.DataObject) -> None:
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    pairs = draw.draw(st.lists(ends, max_size=2 * nodes))
    values = draw.draw(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=2 * nodes, max_size=2 * nodes)
    )
    features = torch.tensor(values).view(nodes, 2)
    strategy = draw.draw(st.sampled_from(STRATEGIES))
    graph = graph_of(edges_of(*pairs), nodes, features=features)
    result = trained(graph, list(range(nodes - 1)), [nodes - 1], strategy=strategy, epochs=4)
    check_finite(result)
    assert result.history.metrics.shape[1] == len(MEASURED)
