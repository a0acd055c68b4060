"""Each rival against PyTorch Geometric's layers with the same weights."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric import nn as pyg

from ppro.compute.attention import Attention
from ppro.compute.propagation import Adjacency
from ppro.errors import SettingsError
from ppro.nn.backbones import appnp, gcnii, sgc
from ppro.nn.network import Network
from ppro.nn.rivals.bare import BareBackbone
from ppro.nn.rivals.gat import GAT
from ppro.nn.rivals.gcn import GCN
from ppro.nn.rivals.gcnii_star import GCNIIStar
from ppro.nn.rivals.jknet import JKNet
from ppro.nn.rivals.jknet_drop import DropEdge
from ppro.parts.choices import Normalisation
from ppro.training.assembly import build_model
from tests.support import CPU, World, edge_mask, noise_of, small_settings, tensor64

DEPTH = 3


def made(name: str, **changes: Any) -> Network:
    """One run in float64 whose every parameter is random."""
    shape = {"model": name, "hidden": 6, "heads": 3, "max_steps": DEPTH}
    model = build_model(6, 3, [small_settings(**{**shape, **changes})], CPU).double()
    for index, p in enumerate(model.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index))
    return model


def logits(model: Network, world: World) -> Tensor:
    out: Tensor = model(world.inputs, world.all_rows()).logits
    return out[0].detach()


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return (x @ weight[0] + bias[0]).detach()


def copy(into: Tensor, value: Tensor) -> None:
    into.data.copy_(value.detach().reshape(into.shape))


def convolution(weight: Tensor, bias: Tensor) -> Any:
    layer = pyg.GCNConv(weight.shape[1], weight.shape[2]).double()
    copy(layer.lin.weight, weight[0].T)
    copy(layer.bias, bias)
    return layer


def convolutions(model: GCN) -> list[Any]:
    weights, biases = [model.weight1, *model.weights], [model.bias1, *model.biases]
    return [convolution(w, b) for w, b in zip(weights, biases, strict=True)]


def test_gcn_is_gcnconv() -> None:
    world, model = World.random(1, nodes=20), made("gcn")
    assert isinstance(model, GCN)
    *inner, last = convolutions(model)
    h = world.x
    for layer in inner:
        h = F.relu(layer(h, world.edges))
    torch.testing.assert_close(logits(model, world), last(h, world.edges).detach())


def test_sgc_is_sgconv() -> None:
    world, model = World.random(2, nodes=20), made("sgc")
    assert isinstance(model, BareBackbone)
    assert isinstance(model.backbone, sgc.SGC)
    layer = pyg.SGConv(6, 3, K=DEPTH).double()
    copy(layer.lin.weight, model.backbone.weight[0].T)
    copy(layer.lin.bias, model.backbone.bias)
    torch.testing.assert_close(logits(model, world), layer(world.x, world.edges).detach())


def test_appnp_propagates_class_scores() -> None:
    world, model = World.random(3, nodes=20), made("appnp", form="hidden", alpha=0.2)
    assert isinstance(model, BareBackbone)
    b = model.backbone
    assert isinstance(b, appnp.APPNP)
    scores = affine(F.relu(affine(world.x, b.weight1, b.bias1)), b.output.weight, b.output.bias)
    expected = pyg.APPNP(K=DEPTH, alpha=0.2)(scores, world.edges)
    torch.testing.assert_close(logits(model, world), expected)


@pytest.mark.parametrize("name", ["gcnii", "gcnii-star"])
def test_gcnii_is_gcn2conv(name: str) -> None:
    world, model = World.random(4, nodes=20), made(name, alpha=0.3, gcnii_lambda=0.8)
    assert isinstance(model, BareBackbone)
    b = model.backbone
    assert isinstance(b, gcnii.GCNII)
    h = h0 = F.relu(affine(world.x, b.weight_in, b.bias_in))
    for k, weight in enumerate(b.steps, start=1):
        shared = not isinstance(model, GCNIIStar)
        layer = pyg.GCN2Conv(6, 0.3, theta=0.8, layer=k, shared_weights=shared).double()
        assert layer.beta == math.log(0.8 / k + 1)
        copy(layer.weight1, weight)
        if not shared:
            copy(layer.weight2, b.get_parameter(f"initial_steps.{k - 1}"))
        h = F.relu(layer(h, h0, world.edges)).detach()
    expected = affine(h, b.output.weight, b.output.bias)
    torch.testing.assert_close(logits(model, world), expected)


def test_gcnii_lets_the_decay_of_its_steps_differ() -> None:
    for name, number in (("gcnii", DEPTH), ("gcnii-star", 2 * DEPTH)):
        model = made(name)
        assert len(model.between()) == number
        assert not {id(p) for p in model.between()} & {id(p) for p in model.decayed()}


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("output_heads", [1, 4])
def test_gat_is_gatconv(self_loops: bool, output_heads: int) -> None:
    world = World.random(5, nodes=20, self_loops=self_loops)
    model = made("gat", output_heads=output_heads)
    assert isinstance(model, GAT)
    h, shapes = world.x, [(2, 3, True), (2, 3, True), (3, output_heads, False)]
    for k, (part, (width, heads, concat)) in enumerate(zip(model.layers, shapes, strict=True)):
        ours, form = cast(Attention, part), {"concat": concat, "add_self_loops": self_loops}
        layer = pyg.GATConv(6, width, heads=heads, **form).double()
        copy(layer.lin.weight, ours.weight[0].T)
        copy(layer.att_dst, ours.target)
        copy(layer.att_src, ours.source)
        copy(layer.bias, ours.bias)
        h = layer(F.elu(h) if k else h, world.edges).detach()
    torch.testing.assert_close(logits(model, world), h)


def test_heads_must_divide_the_hidden_layer() -> None:
    with pytest.raises(SettingsError, match=r"over 4 heads; set hidden .* for example 12"):
        made("gat", hidden=10, heads=4)


@pytest.mark.parametrize("name", ["jknet", "jknet-drop"])
@pytest.mark.parametrize("jumping", ["cat", "max"])
def test_jknet_is_jumping_knowledge(name: str, jumping: str) -> None:
    world, model = World.random(6, nodes=20), made(name, jumping=jumping)
    assert isinstance(model, JKNet)
    h, layers = world.x, []
    for layer in convolutions(model):
        h = F.relu(layer(h, world.edges))
        layers.append(h)
    joined = pyg.JumpingKnowledge(jumping)(layers)
    expected = affine(joined, model.output.weight, model.output.bias)
    torch.testing.assert_close(logits(model, world), expected)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
@pytest.mark.parametrize("weighted", [True, False])
def test_dropedge_normalises_what_is_left(
    self_loops: bool, normalisation: Normalisation, weighted: bool
) -> None:
    world, drop = World.random(7, nodes=12), noise_of([4, 9], 0.4, 3)
    drop = type(drop)(drop.seeds, drop.rates, drop.moment, torch.tensor([0.0, 0.6]))
    rows, columns = world.edges
    weight = (1.0 + rows * columns).double() if weighted else None
    form: dict[str, Any] = {"normalisation": normalisation, "self_loops": self_loops}
    form |= {"edge_weight": weight, "dtype": torch.float64}
    whole = Adjacency.build(world.edges, 12, **form)
    found = DropEdge(whole, weight, normalisation).dropped(drop)
    h = tensor64(2, 12, 4)
    for run in range(2):
        left = edge_mask(drop, 12)[run][rows, columns] > 0
        form["edge_weight"] = None if weight is None else weight[left]
        expected = Adjacency.build(world.edges[:, left], 12, **form)
        one = h[run : run + 1]
        torch.testing.assert_close(found.product(h)[run], expected.product(one)[0])
        torch.testing.assert_close(found.adjoint_product(h)[run], expected.adjoint_product(one)[0])
