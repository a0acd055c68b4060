"""Eq. 5 for every backbone: h0 and what the neighbours hold of it, in one space, nothing dropped.

The measure is taken where the controllers see it: in a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch_geometric import nn as pyg

from ppro.compute.attention import SLOPE, Attention, Heads
from ppro.compute.features import Features
from ppro.compute.layers import generators
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.graph.core import Graph
from ppro.insight.explain import explain_nodes
from ppro.nn import PPro
from ppro.nn.backbones.gat import GAT
from ppro.nn.backbones.gat_scores import GATScores
from ppro.nn.backbones.pyg import Convolving
from ppro.nn.backbones.res_gat import ResGAT
from ppro.nn.backbones.res_sage import ResSAGE
from ppro.nn.backbones.residual import Layer
from ppro.nn.batched import PProNetwork
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.comparing.sight import Sight
from ppro.nn.forward_pass import Pass
from ppro.nn.part import NetworkSizes
from ppro.nn.priority import Measure, standardised
from ppro.nn.priority.heterophily import Heterophily
from ppro.parts import BACKBONES
from tests.support import (
    World,
    both_directions,
    build_ppro,
    edge_mask,
    model64,
    noise_of,
    small_settings,
    tensor64,
)

FEATURES, WIDTH, HEADS, RUNS = 6, 6, 3, 2
MODELS: dict[str, Callable[..., Any]] = {
    "GraphSAGE": pyg.GraphSAGE,
    "pyg-GAT": lambda *sizes: pyg.GAT(*sizes, heads=2),
    "GIN": pyg.GIN,
}
BUILT_IN = sorted(BACKBONES)
every_backbone = pytest.mark.parametrize("name", [*BUILT_IN, *MODELS])
DROPOUT = noise_of([4, 9], [0.5, 0.25], 3)
NOISES = {
    "eval": None,
    "dropout": DROPOUT,
    "edge-dropout": replace(DROPOUT, edge_rates=torch.tensor([0.25, 0.5])),
}


class Seen(Heterophily):
    """The heterophily degree, kept before it is standardised."""

    values: Tensor

    def of_step(self, h0: Tensor, aggregate: Tensor) -> Tensor:
        self.values = super().of_step(h0, aggregate)
        return self.values


def made(name: str, seeds: tuple[int, ...] = (4, 9)) -> PProNetwork:
    """A network in float64 whose controllers see the heterophily degree."""
    shape: dict[str, Any] = {"hidden": WIDTH, "heads": HEADS, "consistency": 1.0}
    if name in MODELS:
        runs = [small_settings(max_steps=2, **shape, seed=seed) for seed in seeds]
        return build_ppro(FEATURES, 3, runs, MODELS[name](FEATURES, WIDTH, 3)).double()
    runs = [small_settings(backbone=name, **shape, seed=seed) for seed in seeds]
    return model64(runs, FEATURES)


def measured(model: PProNetwork, world: World, noise: Noise | None = None) -> Tensor:
    """he of every node, in a pass that teaches the controllers. Shape ``[R, n]``."""
    seen, runs = Seen(), model.epsilon.shape[0]
    model.changing = cast(list[Measure], [seen])
    with torch.no_grad():
        model.controller_loss(world.inputs, world.all_rows(runs), noise)
    return seen.values.expand(runs, -1)


def shares(model: PProNetwork, run: int, world: World, h0: Tensor, noise: Noise | None) -> Tensor:
    """How much each node counts in the aggregate of another, entry by entry. ``[n, n]``."""
    n = world.nodes
    mask = torch.ones(n, n, dtype=torch.float64)
    if noise is not None and noise.edge_rates is not None:
        mask = edge_mask(noise, n)[run]
    if isinstance(model.backbone, Convolving):
        return neighbours(world, mask)
    if isinstance(model.backbone, GAT):
        layer = cast(Attention, model.backbone.steps[0])
        return attention(layer, run, world, h0 @ layer.weight[run]) * mask
    if isinstance(model.backbone, GATScores):
        return attention(model.backbone.second, run, world, h0) * mask
    if isinstance(model.backbone, ResGAT):
        heads = cast(Heads, cast(Layer, model.backbone.steps[0]).around)
        return attention(heads, run, world, h0 @ heads.weight[run]) * mask
    if isinstance(model.backbone, ResSAGE):
        return neighbours(world, torch.ones_like(mask)) * mask
    return world.a_hat * mask


def neighbours(world: World, mask: Tensor) -> Tensor:
    """1 / d_i for each neighbour that is left; a node without any has itself."""
    out = torch.zeros(world.nodes, world.nodes, dtype=torch.float64)
    for i in range(world.nodes):
        left = [j for a, j in world.edges.T.tolist() if a == i and float(mask[i, j])]
        for j in left:
            out[i, j] = 1 / len(left)
        if not left:
            out[i, i] = 1.0
    return out


def attention(layer: Heads, run: int, world: World, joined: Tensor) -> Tensor:
    """The mean over the heads of the softmax of LeakyReLU(t·z_i + s·z_j)."""
    heads, width = layer.target.shape[1:]
    out = torch.zeros(world.nodes, world.nodes, dtype=torch.float64)
    for head in range(heads):
        z = joined[:, head * width : (head + 1) * width]
        for i in range(world.nodes):
            near = [j for j in range(world.nodes) if float(world.a_hat[i, j])]
            scores = []
            for j in near:
                score = float(z[i] @ layer.target[run, head] + z[j] @ layer.source[run, head])
                scores.append(score if score > 0 else SLOPE * score)
            total = sum(math.exp(score) for score in scores)
            for j, score in zip(near, scores, strict=True):
                out[i, j] += math.exp(score) / total / heads
    return out


@every_backbone
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@torch.no_grad()
def test_the_measure_is_the_distance_node_by_node(name: str, noise: Noise | None) -> None:
    world, model = World.random(5), made(name)
    adjacency = world.inputs.adjacency
    if noise is not None and noise.edge_rates is not None:
        adjacency = adjacency.dropped(noise)
    h0 = model.backbone.initial(world.inputs.features, adjacency, noise).expand(RUNS, -1, -1)
    # A linear recursion takes ‖h_0 - h_1‖, which standardising turns into the same.
    factor = 1 - (model.backbone.alpha or 0.0)
    found = measured(model, world, noise)
    for run in range(RUNS):
        weight = shares(model, run, world, h0[run], noise)
        for i in range(world.nodes):
            around = [float(weight[i] @ h0[run, :, c]) for c in range(h0.shape[-1])]
            apart = [(float(h0[run, i, c]) - around[c]) ** 2 for c in range(h0.shape[-1])]
            assert float(found[run, i]) == pytest.approx(factor * math.sqrt(sum(apart)), abs=1e-10)


def ring(labels: list[int]) -> World:
    """Every node between two others, with the features of its class."""
    nodes = len(labels)
    classes = torch.tensor(labels)
    x = tensor64(2, FEATURES, seed=1)[classes]
    edges = both_directions((i, (i + 1) % nodes) for i in range(nodes))
    return World.build(edges, x, classes)


@every_backbone
def test_nodes_with_equal_features_have_no_heterophily(name: str) -> None:
    found = measured(made(name), ring([0] * 12))
    assert float(found.abs().max()) < 1e-12


@pytest.mark.parametrize("name", [*BUILT_IN, *(name for name in MODELS if name != "GIN")])
def test_nor_have_they_in_any_graph_whose_aggregate_is_a_mean(name: str) -> None:
    """Apart from GIN, whose h0 is a sum and tells degrees apart."""
    world = World.random(6)
    alike = world.x[:1].expand(world.nodes, -1).contiguous()
    means = Adjacency.build(world.edges, world.nodes, normalisation="row", dtype=torch.float64)
    inputs = replace(world.inputs, features=Features(alike), adjacency=means)
    found = measured(made(name), replace(world, inputs=inputs))
    assert float(found.abs().max()) < 1e-12


@every_backbone
def test_it_grows_with_the_share_of_neighbours_of_another_class(name: str) -> None:
    model = made(name)
    # Random attention may look at one class alone.
    for layer in model.backbone.modules():
        if isinstance(layer, Heads):
            layer.target.data.zero_()
            layer.source.data.zero_()
    rings = ([0] * 12 + [1] * 12, [0, 0, 1, 1] * 6, [0, 1] * 12)
    means = [measured(model, ring(labels)).mean(1) for labels in rings]
    for fewer, more in pairwise(means):
        assert bool((fewer < more).all())


@pytest.mark.parametrize(
    "name", ["gcn", "gcnii", "gat", "gat-scores", "res-gcn", "res-sage", "res-gat"]
)
def test_the_dropout_of_the_step_plays_no_part(name: str) -> None:
    """Equal embeddings stay equal to their aggregate, whatever the step drops."""
    world, model = ring([0] * 12), made(name)
    h0 = tensor64(RUNS, 1, model.backbone.width).expand(-1, world.nodes, -1).contiguous()
    adjacency = world.inputs.adjacency
    aggregate = model.backbone.step(1, h0, h0, adjacency, DROPOUT)[0]
    around = model.backbone.comparable(h0, aggregate, adjacency, DROPOUT)
    torch.testing.assert_close(around, h0)
    assert not torch.allclose(aggregate, h0)


def test_a_node_without_neighbours_is_like_its_own_under_convolutions() -> None:
    edges, x = both_directions([(0, 1), (1, 2)]), tensor64(4, FEATURES)
    found = measured(made("GraphSAGE"), World.build(edges, x, torch.zeros(4).long()))
    assert bool((found[:, 3] == 0).all())
    assert bool((found[:, :3] > 0).all())


def test_weights_of_edges_weigh_the_neighbours_of_held_convolutions() -> None:
    convs = [pyg.GraphConv(FEATURES, WIDTH), pyg.GraphConv(WIDTH, WIDTH)]
    model = PPro(FEATURES, WIDTH, 3, backbone=convs, strategy="l2b").double().eval()
    seen = Seen()
    model.network.changing = cast(list[Measure], [seen])
    world = World.random(7)
    loops = torch.arange(world.nodes).expand(2, -1)
    edges = torch.cat([world.edges, loops], dim=1)
    weight = tensor64(edges.shape[1], seed=3)
    influence = world.inputs.influence
    model(world.x, edges, weight, influence=influence)
    h0 = convs[0](world.x, edges, weight).relu()
    for i in range(world.nodes):
        total, around = 0.0, torch.zeros(WIDTH, dtype=torch.float64)
        for (j, target), share in zip(edges.T.tolist(), weight.abs().tolist(), strict=True):
            if target == i != j:
                total, around = total + share, around + share * h0[j]
        expected = (h0[i] - around / total).norm()
        torch.testing.assert_close(seen.values[0, i], expected)


@every_backbone
def test_controllers_explanations_and_comparing_controllers_see_the_same(name: str) -> None:
    world, model = World.random(8), made(name, (4,))
    wanted = standardised(measured(model, world))
    model.changing = [Heterophily()]
    pass_ = Pass(model, world.inputs, world.all_rows(), None)
    pass_.run(model._strategy_of(pass_))
    assert pass_.z is not None
    torch.testing.assert_close(pass_.z[..., -1], wanted)
    graph = Graph.build("w", world.edges, world.x, world.labels)
    told = explain_nodes(model, world.inputs, graph)
    assert told.measures is not None
    torch.testing.assert_close(told.measures[:, -1], wanted[0])
    sizes = NetworkSizes(generators([4]), FEATURES, 3)
    wanted_of = small_settings(max_steps=model.max_steps, teaching="compare")
    comparing = ComparingNetwork.around(model.backbone, sizes, [wanted_of]).double()
    seen = comparing.predictions(Sight.of_all(world.inputs, 1))
    torch.testing.assert_close(seen.z[:, -1], wanted[0])
