"""GCN and GAT by class scores: one step is the rival, and further steps only propagate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.noise import Noise
from ppro.nn.backbones.gat_scores import GATScores
from ppro.nn.backbones.gcn_scores import GCNScores
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Network
from ppro.parts import BACKBONES
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import fit
from tests.support import CPU, World, model64, noise_of, small_settings, tensor64
from tests.training.comparing.support import settings_of, small_graph, splits_of

NAMES = ("gcn", "gat")
SEEDS = (4, 9)
NOISES = {
    "prediction": None,
    "dropout": noise_of(SEEDS, [0.5, 0.25], 3),
    "edges": replace(noise_of(SEEDS, [0.5, 0.25], 3), edge_rates=torch.tensor([0.25, 0.5])),
}


def shape(**changes: Any) -> dict[str, Any]:
    return {"hidden": 6, "heads": 3, "output_heads": 2, "strategy": "none", **changes}


def bare(name: str, **changes: Any) -> PProNetwork:
    """The backbone alone, two runs in float64."""
    named = shape(backbone=f"{name}-scores", **changes)
    return model64([small_settings(**{**named, "seed": seed}) for seed in SEEDS])


def rival(name: str, of: PProNetwork) -> Network:
    """The rival of two layers with the weights of the backbone."""
    runs = [small_settings(**shape(model=name, max_steps=2, seed=seed)) for seed in SEEDS]
    made = build_model(6, 3, runs, CPU).double()
    wanted = dict(of.backbone.state_dict())
    places = {
        "gcn": {
            "weight1": "weight1",
            "bias1": "bias1",
            "weight2": "weights.0",
            "bias2": "biases.0",
        },
        "gat": {
            f"{ours}.{part}": f"layers.{theirs}.{part}"
            for theirs, ours in enumerate(("first", "second"))
            for part in ("weight", "bias", "target", "source")
        },
    }[name]
    made.load_state_dict({places[key]: value for key, value in wanted.items()})
    return made


def slopes(model: Network, world: World, noise: Noise | None, names: list[str]) -> list[Tensor]:
    loss = model(world.inputs, world.all_rows(2), noise).logits.square().sum()
    named = dict(model.named_parameters())
    return list(torch.autograd.grad(loss, [named[name] for name in names]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("self_loops", [True, False])
def test_one_step_is_the_rival_in_prediction_and_in_training(
    name: str, noise: Noise | None, self_loops: bool
) -> None:
    world, ours = World.random(3, nodes=20, self_loops=self_loops), bare(name, max_steps=1)
    theirs = rival(name, ours)
    found, expected = (m(world.inputs, world.all_rows(2), noise).logits for m in (ours, theirs))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    first = {"gcn": ("weight1", "weight1"), "gat": ("first.weight", "layers.0.weight")}[name]
    (mine,) = slopes(ours, world, noise, [f"backbone.{first[0]}"])
    (other,) = slopes(theirs, world, noise, [first[1]])
    torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_further_steps_of_gcn_multiply_by_the_adjacency(depth: int) -> None:
    world, model = World.random(4), bare("gcn", max_steps=depth)
    b = model.backbone
    assert isinstance(b, GCNScores)
    for run in range(2):
        scores = F.relu(world.a_hat @ world.x @ b.weight1[run] + b.bias1[run]) @ b.weight2[run]
        expected = torch.linalg.matrix_power(world.a_hat, depth) @ scores + b.bias2[run]
        found = model(world.inputs, world.all_rows(2)).logits[run]
        torch.testing.assert_close(found, expected)


def attention(layer: nn.Module, run: int, head: int, z: Tensor, world: World) -> Tensor:
    """The coefficients of one head, entry by entry. Shape ``[n, n]``."""
    target, source = (layer.get_parameter(part)[run, head] for part in ("target", "source"))
    scores = F.leaky_relu((z @ target).unsqueeze(1) + (z @ source).unsqueeze(0), 0.2)
    return scores.masked_fill(world.a_hat == 0, -torch.inf).softmax(1)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_further_steps_of_gat_repeat_the_attention_of_its_scores(depth: int) -> None:
    world, model = World.random(4), bare("gat", max_steps=depth)
    b = model.backbone
    assert isinstance(b, GATScores)
    found = model(world.inputs, world.all_rows(2)).logits
    for run in range(2):
        z = (world.x @ b.first.weight[run]).view(world.nodes, 3, 2)
        mixed = [attention(b.first, run, i, z[:, i], world) @ z[:, i] for i in range(3)]
        scores = F.elu(torch.cat(mixed, 1) + b.first.bias[run]) @ b.second.weight[run]
        heads = scores.view(world.nodes, 2, 3).unbind(1)
        walks = [attention(b.second, run, i, z, world) for i, z in enumerate(heads)]
        pairs = zip(walks, heads, strict=True)
        last = [torch.linalg.matrix_power(walk, depth) @ z for walk, z in pairs]
        expected = torch.stack(last).mean(0) + b.second.bias[run]
        torch.testing.assert_close(found[run], expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_controllers_that_compare_choose_among_its_steps(name: str, strategy: str) -> None:
    graph = small_graph()
    runs = settings_of(2, backbone=f"{name}-scores", strategy=strategy, judges="folds", hidden=8)
    found = fit(graph, splits_of(graph, 2), runs, threads=1)
    assert bool(found.nodes.probabilities.isfinite().all())
    assert int(found.nodes.steps.max()) <= 3
    assert float(found.test_accuracy.mean()) > 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["homophilous", "heterophilous"])
def test_controllers_have_steps_to_choose_and_the_backbone_alone_has_the_rivals(
    name: str, kind: Any
) -> None:
    space = BACKBONES.get(f"{name}-scores").spaces[kind]
    assert {s["max_steps"] for s in space.shapes} == {4, 8}
    assert {s["max_steps"] for s in space.alone} == {1, 4}
    assert len(space.shapes) == len(space.alone)
    for configuration in space.draw(30):
        Settings.model_validate({"backbone": f"{name}-scores", **configuration})


def test_gcnii_may_have_the_depths_widths_and_decays_of_the_original() -> None:
    """The published values on Cora, Citeseer and Pubmed."""
    space = BACKBONES.get("gcnii").spaces["homophilous"]
    found = {(s["max_steps"], s["hidden"], s["gcnii_lambda"]) for s in space.shapes}
    assert found == {(64, 64, 0.5), (32, 256, 0.6), (16, 256, 0.4)}
    for key, values in {"dropout": (0.6, 0.7, 0.5), "step_decay": (0.01, 5e-4)}.items():
        assert set(values) <= set(space.values[key])
    assert space.values["weight_decay"][0] == 5e-4


def test_the_heads_of_the_scores_are_averaged_at_the_end() -> None:
    """Three classes and eight heads: 24 numbers of a node propagate."""
    model = bare("gat", output_heads=8, max_steps=2)
    assert model.backbone.width == 24
    h = tensor64(2, 5, 24)
    mean = h.view(2, 5, 8, 3).mean(2)
    expected = mean + model.backbone.get_parameter("second.bias").unsqueeze(1)
    torch.testing.assert_close(
        model.backbone.classify(h, h, torch.zeros(2, 5).long(), None), expected
    )
