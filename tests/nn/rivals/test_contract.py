"""The test case that every rival passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.nn.network import Inputs, Network, Rows
from ppro.parts import RIVALS
from ppro.runs.tensors import read_weights, write_weights
from ppro.settings.settings import Settings
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from ppro.training.fit import fit
from tests.support import CPU, both_directions, connected_edges, noise_of, small_settings

NAMES = sorted(RIVALS)
SEEDS = (4, 9)
HEARS_BEYOND_EDGES = {"geom-gcn"}
"""Rivals whose neighbourhoods are not only those of the graph."""

pytestmark = pytest.mark.parametrize("name", NAMES)


def settings_of(name: str, **changes: Any) -> Settings:
    """Small ones; the hidden layer splits over the heads."""
    small = {"model": name, "hidden": 6, "heads": 3, "seed": 0, "dropout": 0.4}
    return small_settings(**{**small, **changes})


def graph_of(nodes: int = 14, features: int = 6, classes: int = 3) -> Graph:
    x = torch.rand(nodes, features, generator=torch.Generator().manual_seed(1)) + 0.1
    return Graph.build("small", connected_edges(nodes, 3), x, torch.arange(nodes) % classes)


def tiny_graph(edges: list[tuple[int, int]], nodes: int) -> Graph:
    x = torch.eye(nodes) + 0.1
    return Graph.build("tiny", both_directions(edges), x, torch.arange(nodes) % 2)


def made(graph: Graph, runs: list[Settings]) -> tuple[Network, Inputs]:
    """A network whose every parameter is random, and the graph as it wants it."""
    model = build_model(graph.num_features, graph.num_classes, runs, CPU)
    for run, settings in enumerate(runs):
        rng = torch.Generator().manual_seed(settings.seed)
        for p in model.parameters():
            p.data[run] = 0.5 * torch.randn(p.shape[1:], generator=rng)
    for p in model.statistics():
        p.data.abs_()  # Some are variances.
    return model, prepare_inputs(graph, runs[0], CPU)


def rows_of(graph: Graph, runs: int) -> Rows:
    """Every node with its label."""
    rows = all_rows(graph, runs, CPU)
    return Rows(rows.nodes, graph.labels.expand(runs, -1), rows.valid)


def noise(*, edges: bool = False, moment: int = 3) -> Noise:
    drop = noise_of(SEEDS, 0.4, moment)
    rates = torch.full((len(SEEDS),), 0.3) if edges else None
    return Noise(drop.seeds, drop.rates, drop.moment, rates)


def gradients(model: Network, inputs: Inputs, rows: Rows, drop: Noise | None) -> list[Tensor]:
    """Those of θ, then those of φ."""
    logits = model(inputs, rows, drop).logits
    loss = logits.log_softmax(-1).gather(-1, rows.labels.unsqueeze(-1)).sum()
    found = list(torch.autograd.grad(loss, model.theta(), materialize_grads=True))
    if model.phi():
        judged = model.controller_loss(inputs, rows, drop).sum()
        found += torch.autograd.grad(judged, model.phi(), materialize_grads=True)
    return found


def test_the_settings_know_it(name: str) -> None:
    assert isinstance(build_model(6, 3, [settings_of(name)], CPU), RIVALS.get(name))


def test_shapes(name: str) -> None:
    graph = graph_of()
    model, inputs = made(graph, [settings_of(name, seed=seed) for seed in SEEDS])
    nodes = torch.tensor([[0, 3, 5, 2], [2, 1, 7, 0]])
    outcome = model(inputs, Rows(nodes, graph.labels[nodes], torch.ones(2, 4)), noise())
    assert outcome.logits.shape == (2, 4, 3)
    assert outcome.embedding.shape[:2] == (2, 4)
    assert outcome.steps.shape == outcome.weights.shape == (2, 4)


def test_rows_are_those_of_the_whole(name: str) -> None:
    graph = graph_of()
    model, inputs = made(graph, [settings_of(name, seed=seed) for seed in SEEDS])
    nodes = torch.tensor([[0, 3, 5], [2, 1, 7]])
    some = Rows(nodes, graph.labels[nodes], torch.ones(2, 3))
    whole = model(inputs, rows_of(graph, 2), noise()).logits
    torch.testing.assert_close(model(inputs, some, noise()).logits, some.pick(whole))


@pytest.mark.parametrize("edges", [False, True])
def test_gradients_reach_every_parameter(name: str, edges: bool) -> None:
    graph = graph_of(nodes=30)
    model, inputs = made(graph, [settings_of(name, seed=seed, max_steps=2) for seed in SEEDS])
    parameters = {id(p): key for key, p in model.named_parameters()}
    learned = [parameters[id(p)] for p in (*model.theta(), *model.phi())]
    assert sorted(learned) == sorted(parameters.values())
    followed = {parameters[id(p)] for p in model.statistics()}
    for drop in (None, noise(edges=edges)):
        grads = gradients(model, inputs, rows_of(graph, 2), drop)
        for parameter, grad in zip(learned, grads, strict=True):
            assert bool(grad.isfinite().all()), parameter
            moves = bool((grad.flatten(1) != 0).any(1).all())
            assert moves == (parameter not in followed), parameter


def test_a_batch_equals_its_runs_alone(name: str) -> None:
    graph, drop = graph_of(), noise(edges=True)
    runs = [settings_of(name, seed=seed) for seed in SEEDS]
    batch, inputs = made(graph, runs)
    logits = batch(inputs, rows_of(graph, 2), drop).logits
    grads = gradients(batch, inputs, rows_of(graph, 2), drop)
    for run, settings in enumerate(runs):
        alone, _ = made(graph, [settings])
        rows = rows_of(graph, 1)
        expected = alone(inputs, rows, drop.run(run)).logits
        torch.testing.assert_close(logits[run], expected[0], rtol=1e-4, atol=1e-5)
        for grad, other in zip(grads, gradients(alone, inputs, rows, drop.run(run)), strict=True):
            torch.testing.assert_close(grad[run], other[0], rtol=1e-3, atol=1e-4)


def test_dropout_acts_and_is_that_of_the_pass(name: str) -> None:
    graph = graph_of()
    model, inputs = made(graph, [settings_of(name, seed=seed) for seed in SEEDS])
    rows = rows_of(graph, 2)
    first, again = (model(inputs, rows, noise()).logits for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, model(inputs, rows).logits)
    assert not torch.allclose(first, model(inputs, rows, noise(moment=5)).logits)


def test_weights_survive_a_file(name: str, tmp_path: Path) -> None:
    runs = [settings_of(name, seed=seed) for seed in SEEDS]
    model, other = build_model(6, 3, runs, CPU), build_model(6, 3, runs[::-1], CPU)
    write_weights(tmp_path, model)
    read_weights(tmp_path, other)
    assert model.state_dict().keys() == other.state_dict().keys()
    for key, value in model.state_dict().items():
        assert value.shape[0] == 2
        assert torch.equal(value, other.state_dict()[key])


def test_what_decays_is_trained(name: str) -> None:
    model = build_model(6, 3, [settings_of(name)], CPU)
    trained = {id(p) for p in model.theta()}
    assert model.decayed()
    assert {id(p) for p in (*model.decayed(), *model.between())} <= trained


@pytest.mark.parametrize("self_loops", [True, False])
def test_two_nodes(name: str, self_loops: bool) -> None:
    settings = settings_of(name, self_loops=self_loops, epochs=3, edge_dropout=0.3)
    one, other = torch.tensor([[True, False]]), torch.tensor([[False, True]])
    splits = Splits("by hand", one, other, other)
    result = fit(tiny_graph([(0, 1)], 2), splits, [settings], threads=1)
    assert bool(result.nodes.probabilities.isfinite().all())
    assert bool(result.history.metrics.isfinite().all())


@pytest.mark.parametrize("self_loops", [True, False])
def test_an_isolated_node_hears_only_itself(name: str, self_loops: bool) -> None:
    settings = settings_of(name, self_loops=self_loops)
    graph = tiny_graph([(0, 1), (1, 2)], 4)
    model, inputs = made(graph, [settings])
    found = model(inputs, all_rows(graph, 1, CPU)).logits
    quiet = Graph.build("quiet", graph.edge_index, graph.features.clone(), graph.labels)
    quiet.features[:3] = 0.5
    expected = model(prepare_inputs(quiet, settings, CPU), all_rows(quiet, 1, CPU)).logits
    assert bool(found.isfinite().all())
    assert not torch.allclose(found[0, 0], expected[0, 0])
    if name not in HEARS_BEYOND_EDGES:
        torch.testing.assert_close(found[0, 3], expected[0, 3])


def test_it_learns_and_the_same_seed_gives_the_same_bits(name: str) -> None:
    graph = load_graph("csbm", options={"nodes": 150, "classes": 3, "features": 16, "degree": 4})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    shape = {"hidden": 12, "max_steps": 2, "feature_norm": "none", "dropout": 0.2, "lr": 0.02}
    runs = [settings_of(name, seed=seed, epochs=40, **shape) for seed in (0, 1)]
    first, second = (fit(graph, splits, runs, threads=1) for _ in range(2))
    assert float(first.test_accuracy.mean()) > 60
    assert torch.equal(first.nodes.probabilities, second.nodes.probabilities)
    assert torch.equal(first.nodes.steps, second.nodes.steps)
