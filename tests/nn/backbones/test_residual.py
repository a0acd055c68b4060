"""Residual GCN, SAGE and GAT against layers of PyTorch Geometric with the same weights."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from ppro.compute.attention import Heads
from ppro.compute.layers import RunBatchNorm, RunLayerNorm, RunLinear
from ppro.compute.noise import Noise
from ppro.nn.backbones.residual import Layer, Residual
from ppro.nn.batched import PProNetwork
from ppro.parts import BACKBONES, RIVALS
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import fit
from tests.support import CPU, World, model64, noise_of, small_settings
from tests.training.comparing.support import settings_of, small_graph, splits_of

NAMES = ("res-gcn", "res-sage", "res-gat")
NORMS = ("layer", "batch", "none")
SEEDS = (4, 9)
every_network = pytest.mark.parametrize("name", NAMES)


def made(name: str, **changes: Any) -> PProNetwork:
    """Two runs in float64 whose every parameter is random."""
    shape = {"backbone": name, "hidden": 6, "heads": 3, "max_steps": 3, "strategy": "none"}
    return model64([small_settings(**{**shape, **changes, "seed": seed}) for seed in SEEDS])


def copy(into: Tensor, value: Tensor | None, run: int) -> None:
    if value is None:
        into.data.zero_()
    else:
        into.data.copy_(value[run].detach().reshape(into.shape))


def linear_of(weight: Tensor, bias: Tensor | None, run: int) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[2]).double()
    copy(layer.weight, weight.transpose(1, 2), run)
    copy(layer.bias, bias, run)
    return layer


def convolution_of(name: str, layer: Layer, run: int) -> Any:
    """A layer of PyTorch Geometric; SAGE has the way past it inside."""
    weight, bias = layer.around.weight.transpose(1, 2), layer.bias
    _, width, fan_in = weight.shape
    if name == "res-gcn":
        conv = pyg.GCNConv(fan_in, width).double()
        copy(conv.lin.weight, weight, run)
        copy(conv.bias, bias, run)
    elif name == "res-sage":
        conv = pyg.SAGEConv(fan_in, width).double()
        assert layer.past is not None
        copy(conv.lin_l.weight, weight, run)
        copy(conv.lin_l.bias, bias, run)
        copy(conv.lin_r.weight, layer.past.transpose(1, 2), run)
    else:
        heads = cast(Heads, layer.around)
        conv = pyg.GATConv(fan_in, width // 3, heads=3).double()
        copy(conv.lin.weight, weight, run)
        copy(conv.att_dst, heads.target, run)
        copy(conv.att_src, heads.source, run)
        copy(conv.bias, bias, run)
    return conv


def norm_of(layer: Layer, run: int, *, training: bool) -> nn.Module:
    ours = layer.norm
    norm: Any = nn.Identity()
    if isinstance(ours, RunLayerNorm):
        norm = nn.LayerNorm(ours.weight.shape[1]).double()
    elif isinstance(ours, RunBatchNorm):
        norm = nn.BatchNorm1d(ours.weight.shape[1]).double()
        copy(norm.running_mean, ours.mean, run)
        copy(norm.running_var, ours.variance, run)
    if ours is not None:
        copy(norm.weight, ours.weight, run)
        copy(norm.bias, ours.bias, run)
    return cast(nn.Module, norm.train(training))


def reference(
    name: str, b: Residual, run: int, world: World, *, training: bool = False
) -> list[Tensor]:
    """h0 .. h_L, as the published code has them."""
    layers, h, found = [cast(Layer, step) for step in b.steps], world.x, []
    if isinstance(b.first, RunLinear):
        found.append(linear_of(b.first.weight, b.first.bias, run)(h))
        h = found[0]
    else:
        layers.insert(0, b.first)
    for layer in layers:
        out = convolution_of(name, layer, run)(h, world.edges)
        if layer.past is not None and name != "res-sage":
            out = out + h @ layer.past[run]
        h = norm_of(layer, run, training=training)(out).relu()
        found.append(h)
    return [state.detach() for state in found]


@every_network
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("linear_first", [True, False])
@pytest.mark.parametrize("residual", [True, False])
def test_every_step_is_a_layer_of_pytorch_geometric(
    name: str, norm: str, linear_first: bool, residual: bool
) -> None:
    changes: dict[str, Any] = {"norm": norm, "linear_first": linear_first, "residual": residual}
    for depth in (1, 3):
        world, model = World.random(3, nodes=20), made(name, max_steps=depth, **changes)
        b = cast(Residual, model.backbone)
        found = model(world.inputs, world.all_rows(2)).logits
        for run in range(2):
            states = reference(name, b, run, world)
            assert len(states) == depth + 1
            expected = linear_of(b.output.weight, b.output.bias, run)(states[-1])
            torch.testing.assert_close(found[run], expected)


@every_network
def test_in_training_the_nodes_at_hand_are_normalised_and_the_running_means_follow(
    name: str,
) -> None:
    world, model = World.random(3, nodes=20), made(name, norm="batch", max_steps=1)
    b, noise = cast(Residual, model.backbone), noise_of(SEEDS, 0.0, 3)
    before = [p.detach().clone() for p in model.statistics()]
    with torch.no_grad():
        quiet = model(world.inputs, world.all_rows(2), noise).logits
    assert all(torch.equal(p, q) for p, q in zip(model.statistics(), before, strict=True))
    states = [reference(name, b, run, world, training=True)[-1] for run in range(2)]
    found = model(world.inputs, world.all_rows(2), noise).logits
    torch.testing.assert_close(quiet, found)
    for run in range(2):
        expected = linear_of(b.output.weight, b.output.bias, run)(states[run])
        torch.testing.assert_close(found[run], expected)
    assert not any(torch.equal(p, q) for p, q in zip(model.statistics(), before, strict=True))


@every_network
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("linear_first", [True, False])
def test_slopes_of_a_batch_are_those_of_its_runs_and_of_the_function(
    name: str, norm: str, linear_first: bool
) -> None:
    drop = noise_of(SEEDS, 0.4, 3)
    drop = Noise(drop.seeds, drop.rates, drop.moment, torch.tensor([0.3, 0.1]))
    world = World.random(4)
    model = made(name, norm=norm, linear_first=linear_first, max_steps=2)
    alone = made(name, norm=norm, linear_first=linear_first, max_steps=2)
    followed = {id(p) for p in model.statistics()}
    learned = [p for p in model.parameters() if id(p) not in followed]
    loss = model(world.inputs, world.all_rows(2), drop).logits.square().sum()
    slopes = torch.autograd.grad(loss, learned)
    for run in range(2):
        others = {id(p) for p in alone.statistics()}
        for p, q in zip(alone.parameters(), model.parameters(), strict=True):
            p.data = q.data[run : run + 1].clone()
        one = [p for p in alone.parameters() if id(p) not in others]
        loss = alone(world.inputs, world.all_rows(1), drop.run(run)).logits.square().sum()
        for found, expected in zip(slopes, torch.autograd.grad(loss, one), strict=True):
            assert bool((found[run] != 0).any())
            torch.testing.assert_close(found[run], expected[0])


@every_network
def test_features_are_dropped_when_asked_and_whole_rows_always(name: str) -> None:
    world, noise = World.random(5), noise_of(SEEDS, 0.5, 3)
    by_rows = Noise(noise.seeds, noise.rates, noise.moment, node_rates=torch.tensor([0.5, 0.5]))
    for linear_first in (True, False):
        model = made(name, linear_first=linear_first)
        x = world.inputs.features
        plain = model.backbone.embed(x, None)
        assert torch.equal(model.backbone.embed(x, noise), plain)
        rows = model.backbone.embed(x, by_rows)
        zero = model.backbone.embed(type(x)(torch.zeros_like(world.x)), None)
        gone = (rows == zero).all(-1)
        assert bool(gone.any())
        assert not bool(gone.all())
        torch.testing.assert_close((rows - zero)[~gone], 2 * (plain - zero)[~gone])
        asked = made(name, linear_first=linear_first, drop_features=True)
        assert not torch.allclose(asked.backbone.embed(x, noise), asked.backbone.embed(x, None))


@every_network
@pytest.mark.parametrize("teaching", ["paper", "compare"])
@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_controllers_choose_among_its_layers(name: str, teaching: str, norm: str) -> None:
    graph = small_graph()
    judges = {"judges": "folds"} if teaching == "compare" else {}
    runs = settings_of(
        2, backbone=name, teaching=teaching, norm=norm, hidden=8, epochs=30, **judges
    )
    first, again = (fit(graph, splits_of(graph, 2), runs, threads=1) for _ in range(2))
    assert bool(first.nodes.probabilities.isfinite().all())
    assert torch.equal(first.nodes.probabilities, again.nodes.probabilities)
    assert int(first.nodes.steps.max()) <= 3


@every_network
@pytest.mark.parametrize("norm", NORMS)
def test_fifteen_layers_train(name: str, norm: str) -> None:
    graph = small_graph()
    shape = {"model": name, "max_steps": 15, "hidden": 8, "norm": norm, "feature_norm": "none"}
    runs = [Settings.model_validate({**shape, "epochs": 15, "seed": seed}) for seed in range(2)]
    found = fit(graph, splits_of(graph, 2), runs, threads=1)
    assert bool(found.nodes.probabilities.isfinite().all())
    assert bool((found.nodes.steps == 15).all())


@every_network
def test_the_rival_is_the_backbone_alone(name: str) -> None:
    world, ours = World.random(6), made(name)
    shape = {"model": name, "hidden": 6, "heads": 3, "max_steps": 3}
    theirs = build_model(6, 3, [small_settings(**shape, seed=seed) for seed in SEEDS], CPU).double()
    theirs.load_state_dict(ours.state_dict())
    found, expected = (m(world.inputs, world.all_rows(2)).logits for m in (ours, theirs))
    assert torch.equal(found, expected)


@every_network
@pytest.mark.parametrize("kind", ["homophilous", "heterophilous"])
def test_every_configuration_of_their_spaces_can_be_trained(name: str, kind: Any) -> None:
    backbone, rival = BACKBONES.get(name).spaces[kind], RIVALS.get(name).spaces[kind]
    assert min(shape["max_steps"] for shape in backbone.shapes) == 4
    assert min(shape["max_steps"] for shape in rival.shapes) == 2
    assert len(backbone.shapes) == len(backbone.alone) == len(rival.shapes)
    for space, named in ((backbone, {"backbone": name}), (rival, {"model": name})):
        for configuration in space.draw(40):
            assert set(space.values) <= Settings.model_validate({**configuration, **named}).per_run
