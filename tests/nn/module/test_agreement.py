"""The module and the network that ``fit`` trains are one: same outcomes, losses and slopes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from ppro.compute.layers import generators
from ppro.compute.propagation import Adjacency
from ppro.nn import PPro, losses
from ppro.nn.backbones.pyg import Adapted
from ppro.nn.batched import PProNetwork
from ppro.nn.module_backbone import HeldConvolutions
from ppro.nn.part import NetworkSizes
from tests.nn.module.support import BUILT_IN
from tests.support import World, build_ppro, noise_of, small_settings, tensor64

SETTINGS: dict[str, dict[str, Any]] = {
    "appnp": {"alpha": 0.25},
    "gat": {"heads": 1},
    "gat-scores": {"heads": 1, "output_heads": 2},
    "gcn": {},
    "gcn-scores": {},
    "gcnii": {"alpha": 0.25},
    "grand": {"alpha": 0.25},
    "res-gat": {"heads": 1, "norm": "batch"},
    "res-gcn": {},
    "res-sage": {"linear_first": False},
    "sgc": {},
}
LABELLED = [0, 2, 3, 7, 9, 10]
CONTROLLERS = ("epsilon", "lambda1", "lambda2", "propagation_bias", "controller_units")

every_backbone = pytest.mark.parametrize("backbone", BUILT_IN)
both_strategies = pytest.mark.parametrize("strategy", ["l2b", "l2u"])


def pair(
    backbone: str, strategy: str, dtype: torch.dtype = torch.float64, **changes: Any
) -> tuple[PPro, PProNetwork]:
    """The module and the batched network, with the same random weights."""
    given = {**SETTINGS[backbone], **changes}
    settings = small_settings(
        backbone=backbone, strategy=strategy, dropout=0.0, consistency=1.0, **given
    )
    keywords = {key: getattr(settings.controllers, key) for key in CONTROLLERS}
    model = PPro(6, 5, 3, 4, backbone, strategy, dropout=0.0, **{**keywords, **given})
    batched = build_ppro(6, 3, [settings])
    for index, p in enumerate(batched.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index + 100))
    for p in batched.statistics():
        p.data.abs_()
    if batched.controllers is not None and batched.controllers.mean_weight is not None:
        batched.controllers.mean_weight.data.abs_()
    model.network.load_state_dict(batched.state_dict())
    return model.to(dtype), batched.to(dtype)


def slopes(loss: Tensor, parameters: list[nn.Parameter]) -> list[Tensor]:
    return list(torch.autograd.grad(loss, parameters, materialize_grads=True))


@every_backbone
@both_strategies
def test_outcomes_agree(backbone: str, strategy: str) -> None:
    model, batched = pair(backbone, strategy)
    seen: set[int] = set()
    for seed in range(5):
        world = World.random(seed)
        outcome = batched(world.inputs, world.all_rows())
        logits = model.eval()(world.x, world.edges, influence=world.inputs.influence)
        torch.testing.assert_close(logits, outcome.logits[0], atol=1e-10, rtol=1e-10)
        torch.testing.assert_close(model.priorities, outcome.weights[0], atol=1e-10, rtol=1e-10)
        assert torch.equal(model.steps, outcome.steps[0])
        seen |= set(model.steps.tolist())
    assert len(seen) > 1


@every_backbone
@both_strategies
def test_losses_and_their_slopes_agree(backbone: str, strategy: str) -> None:
    world, (model, batched) = World.random(2), pair(backbone, strategy)
    rows, noise = world.rows([LABELLED]), noise_of([0], 0.0, 0)
    where = torch.tensor(LABELLED)
    graph = world.x, world.edges
    # GRAND normalises over all nodes that are asked for.
    outcome = batched(world.inputs, world.all_rows(), noise)
    error = losses.prediction_error(outcome.logits[:, where], rows.labels)
    theirs = losses.weighted_loss(error, outcome.weights[:, where], batched.lambda1, rows.valid)
    logits = model(*graph, influence=world.inputs.influence)
    ours = model.backbone_loss(logits, world.labels, where)
    torch.testing.assert_close(ours, theirs[0], atol=1e-10, rtol=1e-10)
    for mine, other in zip(
        slopes(ours, model.network.theta()), slopes(theirs.sum(), batched.theta()), strict=True
    ):
        torch.testing.assert_close(mine, other, atol=1e-9, rtol=1e-9)
    theirs = batched.controller_loss(world.inputs, rows, noise)
    ours = model.controller_loss(*graph, world.labels, where, influence=world.inputs.influence)
    torch.testing.assert_close(ours, theirs[0], atol=1e-10, rtol=1e-10)
    for mine, other in zip(
        slopes(ours, model.controller_parameters()),
        slopes(theirs.sum(), batched.phi()),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, atol=1e-9, rtol=1e-9)


@both_strategies
@pytest.mark.parametrize("form", ["softplus", "tanh"])
def test_priorities_of_mean_1_agree(strategy: str, form: str) -> None:
    changes: dict[str, Any] = {"priority_scale": "mean", "weight_form": form}
    world, (model, batched) = World.random(2), pair("appnp", strategy, **changes)
    rows, noise = world.rows([LABELLED]), noise_of([0], 0.0, 0)
    graph, where = (world.x, world.edges), torch.tensor(LABELLED)
    outcome = batched(world.inputs, rows, noise)
    weights = batched.scaled(outcome.weights, rows.valid)
    assert float(weights.mean()) == pytest.approx(1)
    error = losses.prediction_error(outcome.logits, rows.labels)
    theirs = losses.weighted_loss(error, weights, batched.lambda1, rows.valid)
    logits = model(*graph, influence=world.inputs.influence)
    ours = model.backbone_loss(logits, world.labels, where)
    torch.testing.assert_close(ours, theirs[0], atol=1e-10, rtol=1e-10)
    theirs = batched.controller_loss(world.inputs, rows, noise)
    ours = model.controller_loss(*graph, world.labels, where, influence=world.inputs.influence)
    torch.testing.assert_close(ours, theirs[0], atol=1e-10, rtol=1e-10)
    kept = [net.controllers.mean_weight for net in (model.network, batched) if net.controllers]
    assert kept[0] is not None
    assert kept[1] is not None
    torch.testing.assert_close(kept[0].detach(), kept[1].detach())
    # It follows the data, so an optimiser, which may decay what it is given, must not see it.
    assert all(p is not kept[0] for p in model.controller_parameters())


@every_backbone
@both_strategies
def test_they_agree_in_single_precision_with_the_module_s_own_influence(
    backbone: str, strategy: str
) -> None:
    world = World.random(3)
    model, batched = pair(backbone, strategy, torch.float64)
    outcome = batched(world.inputs, world.all_rows())
    scale = outcome.logits.abs().max()
    logits = model.float().eval()(world.x.float(), world.edges)
    assert torch.equal(model.steps, outcome.steps[0])
    assert float(((logits - outcome.logits[0]).abs().max() / scale).detach()) < 1e-6


@pytest.mark.parametrize("changes", [{"normalisation": "row"}, {"self_loops": False}])
def test_other_normalisations_agree(changes: dict[str, Any]) -> None:
    world = World.random(4)
    model, batched = pair("appnp", "l2b", **changes)
    adjacency = Adjacency.build(world.edges, world.nodes, dtype=torch.float64, **changes)
    inputs = type(world.inputs)(world.inputs.features, adjacency, world.inputs.influence)
    theirs = batched(inputs, world.all_rows()).logits[0]
    ours = model.eval()(world.x, world.edges, influence=inputs.influence)
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


@both_strategies
@pytest.mark.parametrize("changes", [{"form": "class"}, {"form": "features", "concat": True}])
def test_forms_of_appnp_agree(strategy: str, changes: dict[str, Any]) -> None:
    world, (model, batched) = World.random(5), pair("appnp", strategy, **changes)
    theirs = batched(world.inputs, world.all_rows()).logits[0]
    ours = model.eval()(world.x, world.edges, influence=world.inputs.influence)
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


def test_held_convolutions_agree_with_copied_ones() -> None:
    world, gnn = World.random(6), pyg.GraphSAGE(6, 5, 4, norm="layer_norm")
    sizes = NetworkSizes(generators([0]), 6, 3)
    copied = Adapted(sizes.rngs, 6, 3, gnn)
    settings = small_settings(hidden=5, max_steps=3, strategy="l2u")
    theirs = PProNetwork.around(copied, sizes, [settings]).double()
    model = PPro(6, 5, 3, backbone=gnn, strategy="l2u", controller_units=7).double().eval()
    held, controllers = model.network.backbone, model.network.controllers
    assert isinstance(held, HeldConvolutions)
    assert controllers is not None
    assert theirs.controllers is not None
    held.output.load_state_dict(copied.output.state_dict())
    controllers.load_state_dict(theirs.controllers.state_dict())
    for layer, stacks in zip(held._layers, copied.weights, strict=True):
        mine = dict(layer.named_parameters())
        for name, stack in stacks.named_parameters():
            mine[name.replace("/", ".")].data.copy_(stack[0])
    outcome = theirs(world.inputs, world.all_rows())
    logits = model(world.x, world.edges, influence=world.inputs.influence)
    torch.testing.assert_close(logits, outcome.logits[0], atol=1e-10, rtol=1e-10)
    assert torch.equal(model.steps, outcome.steps[0])
