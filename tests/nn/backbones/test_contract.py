"""The test case that every backbone passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.nn.batched import PProNetwork
from ppro.parts import BACKBONES
from ppro.runs.tensors import read_weights, write_weights
from ppro.settings.settings import Settings
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from ppro.training.fit import fit
from tests.support import CPU, World, both_directions, build_ppro, model64, noise_of, small_settings

NAMES = sorted(BACKBONES)
STRATEGIES = ("l2b", "l2u", "none")
pytestmark = pytest.mark.parametrize("name", NAMES)


def settings_of(name: str, **changes: Any) -> Settings:
    """Small ones; the hidden layer splits over the heads, and GRAND's passes are of all nodes."""
    own = {"consistency": 1.0} if name == "grand" else {}
    shape = {"backbone": name, "hidden": 6, "heads": 3, "seed": 0}
    return small_settings(**{**shape, **own, **changes})


def models(name: str, **changes: Any) -> tuple[PProNetwork, list[PProNetwork]]:
    """A float64 model of two runs, and each run alone."""
    runs = [settings_of(name, seed=seed, **changes) for seed in (4, 9)]
    batch = model64(runs)
    alone = [model64([settings]) for settings in runs]
    for run, model in enumerate(alone):
        for p, q in zip(model.parameters(), batch.parameters(), strict=True):
            p.data.copy_(q.data[run : run + 1])
    return batch, alone


def noise(runs: int = 2, *, edges: bool = False) -> Noise:
    made = noise_of([4, 9][:runs], 0.4, 3)
    rates = torch.full((runs,), 0.3) if edges else None
    return Noise(made.seeds, made.rates, made.moment, rates)


def backbone_gradients(model: PProNetwork, world: World, drop: Noise | None) -> dict[str, Tensor]:
    runs = model.epsilon.shape[0]
    logits = model(world.inputs, world.all_rows(runs), drop).logits
    loss = logits.log_softmax(-1)[..., 0].sum()
    named = dict(model.backbone.named_parameters())
    grads = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    return dict(zip(named, grads, strict=True))


def tiny_graph(edges: list[tuple[int, int]], nodes: int) -> Graph:
    x = torch.eye(nodes) + 0.1
    return Graph.build("tiny", both_directions(edges), x, torch.arange(nodes) % 2)


def test_every_name_has_its_backbone(name: str) -> None:
    made = build_ppro(6, 3, [settings_of(name)]).backbone
    assert type(made) is BACKBONES.get(name)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shapes(name: str, strategy: str) -> None:
    world, (model, _) = World.random(0), models(name, strategy=strategy)
    rows = world.rows([[0, 3, 5], [2, 1, 7]])
    outcome = model(world.inputs, rows, noise())
    h0 = model.backbone.embed(world.inputs.features, None)
    aggregate, h = model.backbone.step(1, h0, h0, world.inputs.adjacency, None)
    assert h0.shape == aggregate.shape == h.shape == (2, world.nodes, model.backbone.width)
    assert h0.is_contiguous() or h0.stride(0) == 0
    assert h.is_contiguous()
    assert outcome.logits.shape == (2, 3, 3)
    assert outcome.embedding.shape == (2, 3, model.backbone.width)
    assert outcome.steps.shape == outcome.weights.shape == (2, 3)


@pytest.mark.parametrize("edges", [False, True])
def test_gradients_reach_every_parameter(name: str, edges: bool) -> None:
    world, (model, _) = World.random(1), models(name, strategy="none", max_steps=2, dropout=0.4)
    followed = {id(p) for p in model.backbone.statistics()}
    learned = {key for key, p in model.backbone.named_parameters() if id(p) not in followed}
    for drop in (None, noise(edges=edges)):
        for parameter, grad in backbone_gradients(model, world, drop).items():
            assert bool(grad.isfinite().all()), parameter
            assert bool((grad.flatten(1) != 0).any(1).all()) == (parameter in learned), parameter


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_batch_equals_its_runs_alone(name: str, strategy: str) -> None:
    world, (batch, alone) = World.random(2), models(name, strategy=strategy)
    drop = noise(edges=True)
    outcome = batch(world.inputs, world.all_rows(2), drop)
    grads = backbone_gradients(batch, world, drop)
    for run, model in enumerate(alone):
        expected = model(world.inputs, world.all_rows(), drop.run(run))
        torch.testing.assert_close(outcome.logits[run], expected.logits[0])
        torch.testing.assert_close(outcome.weights[run], expected.weights[0])
        assert torch.equal(outcome.steps[run], expected.steps[0])
        for parameter, grad in backbone_gradients(model, world, drop.run(run)).items():
            torch.testing.assert_close(grads[parameter][run], grad[0])


def test_gradients_are_those_of_the_function(name: str) -> None:
    world, (model, _) = World.random(3, nodes=5), models(name, strategy="none", max_steps=2)
    parameters = list(model.backbone.parameters())

    def logits(*_: Tensor) -> Tensor:
        out: Tensor = model(world.inputs, world.all_rows(2), noise(edges=True)).logits
        return out

    assert torch.autograd.gradcheck(logits, parameters, nondet_tol=0.0, fast_mode=True)


def test_dropout_is_of_the_pass_and_of_every_step(name: str) -> None:
    world, (model, _) = World.random(4), models(name, strategy="none")
    first, again = (model(world.inputs, world.all_rows(2), noise()).logits for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, model(world.inputs, world.all_rows(2)).logits)


def test_weights_survive_a_file(name: str, tmp_path: Path) -> None:
    runs = [settings_of(name, seed=seed) for seed in (4, 9)]
    model, other = build_model(6, 3, runs, CPU), build_model(6, 3, runs[::-1], CPU)
    write_weights(tmp_path, model)
    read_weights(tmp_path, other)
    assert model.state_dict().keys() == other.state_dict().keys()
    for key, value in model.state_dict().items():
        assert value.shape[0] == 2
        assert torch.equal(value, other.state_dict()[key])


def test_what_decays_is_trained(name: str) -> None:
    backbone = build_ppro(6, 3, [settings_of(name)]).backbone
    trained = {id(p) for p in backbone.parameters()}
    assert backbone.decayed()
    assert {id(p) for p in backbone.decayed()} <= trained


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("self_loops", [True, False])
def test_two_nodes(name: str, strategy: str, self_loops: bool) -> None:
    graph = tiny_graph([(0, 1)], 2)
    settings = settings_of(name, strategy=strategy, self_loops=self_loops, epochs=3)
    one, other = torch.tensor([[True, False]]), torch.tensor([[False, True]])
    result = fit(graph, Splits("by hand", one, other, other), [settings], threads=1)
    assert bool(result.nodes.probabilities.isfinite().all())
    assert bool(result.history.metrics.isfinite().all())


@pytest.mark.parametrize("self_loops", [True, False])
def test_an_isolated_node_hears_only_itself(name: str, self_loops: bool) -> None:
    settings = settings_of(name, strategy="none", self_loops=self_loops)
    graph = tiny_graph([(0, 1), (1, 2)], 4)
    model = build_model(4, 2, [settings], CPU)
    found = model(prepare_inputs(graph, settings, CPU), all_rows(graph, 1, CPU)).logits
    quiet = Graph.build("quiet", graph.edge_index, graph.features.clone(), graph.labels)
    quiet.features[:3] = 0.5
    expected = model(prepare_inputs(quiet, settings, CPU), all_rows(quiet, 1, CPU)).logits
    assert bool(found.isfinite().all())
    torch.testing.assert_close(found[0, 3], expected[0, 3])
    assert not torch.allclose(found[0, 0], expected[0, 0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_learns_and_the_same_seed_gives_the_same_bits(name: str, strategy: str) -> None:
    graph = load_graph("csbm", options={"nodes": 150, "classes": 3, "features": 16, "degree": 4})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    shape = {"hidden": 12, "max_steps": 2, "feature_norm": "none", "dropout": 0.2}
    runs = [
        settings_of(name, strategy=strategy, seed=seed, epochs=40, lr=0.02, **shape)
        for seed in (0, 1)
    ]
    first, second = (fit(graph, splits, runs, threads=1) for _ in range(2))
    assert float(first.test_accuracy.mean()) > 60
    assert torch.equal(first.nodes.probabilities, second.nodes.probabilities)
    assert torch.equal(first.nodes.steps, second.nodes.steps)


@pytest.mark.parametrize(
    "ablation",
    [
        *({key: False} for key in ("use_priority", "use_step", "use_weighting", "use_propagation")),
        {"controller_inputs": "predictions"},
    ],
    ids=str,
)
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_ablations(name: str, strategy: str, ablation: dict[str, Any]) -> None:
    graph = tiny_graph([(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)], 6)
    settings = settings_of(name, strategy=strategy, epochs=3, edge_dropout=0.2, **ablation)
    train, val = torch.zeros(1, 6, dtype=torch.bool), torch.zeros(1, 6, dtype=torch.bool)
    train[:, :4], val[:, 4:] = True, True
    result = fit(graph, Splits("by hand", train, val, val), [settings], threads=1)
    assert bool(result.nodes.probabilities.isfinite().all())


def test_heads_of_width_one(name: str) -> None:
    world, (model, _) = World.random(5), models(name, hidden=3, heads=3)
    assert model(world.inputs, world.all_rows(2), noise()).logits.shape == (2, world.nodes, 3)
