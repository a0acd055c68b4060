"""Each backbone against PyTorch Geometric's layers with the same weights."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric import nn as pyg

from ppro.errors import SettingsError
from ppro.nn.backbones.appnp import APPNP
from ppro.nn.backbones.gat import GAT
from ppro.nn.backbones.gcn import GCN
from ppro.nn.backbones.gcnii import GCNII
from ppro.nn.backbones.sgc import SGC
from ppro.nn.batched import PProNetwork
from ppro.training.assembly import build_model
from tests.support import CPU, World, model64, small_settings

DEPTH = 3


def made(name: str, **changes: Any) -> PProNetwork:
    shape = {"backbone": name, "hidden": 6, "heads": 3, "max_steps": DEPTH, "strategy": "none"}
    return model64([small_settings(**{**shape, **changes, "seed": seed}) for seed in (0, 1)])


def logits(model: PProNetwork, world: World) -> Tensor:
    out: Tensor = model(world.inputs, world.all_rows(2)).logits
    return out.detach()


def affine(x: Tensor, weight: Tensor, bias: Tensor, run: int) -> Tensor:
    return (x @ weight[run] + bias[run]).detach()


def copy(into: Tensor, value: Tensor) -> None:
    into.data.copy_(value.detach().reshape(into.shape))


@pytest.mark.parametrize("run", [0, 1])
def test_sgc_is_sgconv(run: int) -> None:
    world, model = World.random(5, nodes=20), made("sgc")
    assert isinstance(model.backbone, SGC)
    layer = pyg.SGConv(6, 3, K=DEPTH).double()
    copy(layer.lin.weight, model.backbone.weight[run].T)
    copy(layer.lin.bias, model.backbone.bias[run])
    torch.testing.assert_close(logits(model, world)[run], layer(world.x, world.edges).detach())


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("concat", [False, True])
@pytest.mark.parametrize(("depth", "alpha"), [(1, 0.0), (DEPTH, 0.1), (10, 0.5)])
def test_appnp_of_features_is_an_mlp_of_features_that_have_propagated(
    depth: int, alpha: float, concat: bool, run: int
) -> None:
    """The package multiplies with W1 first; propagation comes first here, over X as it is."""
    changes = {"form": "features", "alpha": alpha, "max_steps": depth, "concat": concat}
    world, model = World.random(5, nodes=20), made("appnp", **changes)
    b = model.backbone
    assert isinstance(b, APPNP)
    propagated = pyg.APPNP(K=depth, alpha=alpha)(world.x, world.edges)
    seen = [propagated, world.x] if concat else [propagated]
    h = torch.cat([F.relu(affine(x, b.weight1, b.bias1, run)) for x in seen], dim=1)
    expected = affine(h, b.output.weight, b.output.bias, run)
    torch.testing.assert_close(logits(model, world)[run], expected)


@pytest.mark.parametrize("run", [0, 1])
def test_gcn_is_gcnconv(run: int) -> None:
    world, model = World.random(6, nodes=20), made("gcn")
    b = model.backbone
    assert isinstance(b, GCN)
    h, first = world.x, (b.weight_in, b.bias_in)
    rest = [(s.get_parameter("weight"), s.get_parameter("bias")) for s in b.steps]
    for weight, bias in (first, *rest):
        layer = pyg.GCNConv(6, 6).double()
        copy(layer.lin.weight, weight[run].T)
        copy(layer.bias, bias[run])
        h = F.relu(layer(h, world.edges)).detach()
    expected = affine(h, b.output.weight, b.output.bias, run)
    torch.testing.assert_close(logits(model, world)[run], expected)


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_gcnii_is_gcn2conv(run: int, alpha: float) -> None:
    world, model = World.random(7, nodes=20), made("gcnii", alpha=alpha, gcnii_lambda=0.8)
    b = model.backbone
    assert isinstance(b, GCNII)
    h = h0 = F.relu(affine(world.x, b.weight_in, b.bias_in, run))
    for k, weight in enumerate(b.steps, start=1):
        layer = pyg.GCN2Conv(6, alpha=alpha, theta=0.8, layer=k).double()
        assert layer.beta == math.log(0.8 / k + 1)
        copy(layer.weight1, weight[run])
        h = F.relu(layer(h, h0, world.edges)).detach()
    expected = affine(h, b.output.weight, b.output.bias, run)
    torch.testing.assert_close(logits(model, world)[run], expected)


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("self_loops", [True, False])
def test_gat_is_gatconv(run: int, self_loops: bool) -> None:
    world, model = World.random(8, nodes=20, self_loops=self_loops), made("gat")
    b = model.backbone
    assert isinstance(b, GAT)
    h = world.x
    for step in (b.first, *b.steps):
        layer = pyg.GATConv(6, 2, heads=3, add_self_loops=self_loops).double()
        copy(layer.lin.weight, step.get_parameter("weight")[run].T)
        copy(layer.att_dst, step.get_parameter("target")[run])
        copy(layer.att_src, step.get_parameter("source")[run])
        copy(layer.bias, step.get_parameter("bias")[run])
        h = F.elu(layer(h, world.edges)).detach()
    expected = affine(h, b.output.weight, b.output.bias, run)
    torch.testing.assert_close(logits(model, world)[run], expected)


def test_attention_stays_finite_with_large_scores() -> None:
    world, model = World.random(9), made("gat")
    for p in model.parameters():
        p.data.mul_(100)
    assert bool(logits(model, world).isfinite().all())


def test_heads_must_divide_the_hidden_layer() -> None:
    settings = small_settings(backbone="gat", hidden=10, heads=4)
    with pytest.raises(SettingsError, match=r"over 4 heads; set hidden .* for example 12"):
        build_model(6, 3, [settings], CPU)
