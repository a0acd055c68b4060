"""Models of PyTorch Geometric as backbones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from ppro.compute.layers import generators
from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.nn.backbones.pyg import Adapted, number_of_steps
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from tests.support import World, build_ppro, noise_of

FEATURES, WIDTH, LAYERS = 6, 8, 3
PNA = {
    "aggregators": ["mean", "max"],
    "scalers": ["identity", "amplification"],
    "deg": torch.tensor([0, 4, 4, 3]),
}
MODELS: dict[str, Callable[..., Any]] = {
    "GCN": pyg.GCN,
    "GraphSAGE": pyg.GraphSAGE,
    "GIN": pyg.GIN,
    "GAT": lambda *sizes, **kwargs: pyg.GAT(*sizes, heads=2, **kwargs),
    "PNA": lambda *sizes, **kwargs: pyg.PNA(*sizes, **PNA, **kwargs),
    "EdgeCNN": pyg.EdgeCNN,
}
every_model = pytest.mark.parametrize("name", MODELS)


def adapted(gnn: Any, runs: int = 1, classes: int = 3) -> Adapted:
    return Adapted(generators(list(range(runs))), FEATURES, classes, gnn)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 150, "classes": 3, "features": 16, "degree": 4})


def splits_of(graph: Graph, runs: int) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", runs, 0)


def settings_of(**changes: Any) -> Settings:
    base = {"feature_norm": "none", "epochs": 30, "lr": 0.02, "dropout": 0.2, "decay": "all"}
    return Settings.model_validate({**base, "propagation_bias": 0.0, **changes})


@every_model
def test_the_steps_are_the_layers_of_the_model(name: str) -> None:
    world, gnn = World.random(0), MODELS[name](FEATURES, WIDTH, LAYERS, act="tanh")
    made = adapted(gnn)
    for conv, weights in zip(gnn.convs, made.weights, strict=True):
        for key, value in conv.named_parameters():
            name = "conv/" + key.replace(".", "/")
            value.data.copy_(weights.get_parameter(name)[0])
    gnn, made = gnn.double(), made.double()
    adjacency = world.inputs.adjacency
    h = h0 = made.initial(world.inputs.features, adjacency, None)
    for k in range(1, LAYERS):
        aggregate, h = made.step(k, h, h0, adjacency, None)
    torch.testing.assert_close(aggregate[0], gnn(world.x, world.edges))
    torch.testing.assert_close(h, aggregate.tanh())


def test_norms_and_functions_are_taken_over() -> None:
    world = World.random(1)
    gnn = pyg.GCN(FEATURES, WIDTH, 2, norm="layer_norm", act=torch.sigmoid, act_first=True)
    made = adapted(gnn).double()
    h = torch.ones(1, world.nodes, WIDTH, dtype=torch.float64)
    aggregate, updated = made.step(1, h, h, world.inputs.adjacency, None)
    torch.testing.assert_close(updated, aggregate.sigmoid())
    assert any("after" in key for key, _ in made.named_parameters())


@every_model
def test_gradients_reach_every_parameter(name: str) -> None:
    world, settings = World.random(2), settings_of(strategy="none", max_steps=LAYERS - 1)
    gnn = MODELS[name](FEATURES, WIDTH, LAYERS, act="tanh")
    model = build_ppro(FEATURES, 3, [settings, settings.replace(seed=1)], gnn).double()
    logits = model(world.inputs, world.all_rows(2), noise_of([0, 1], 0.2, 0)).logits
    named = dict(model.backbone.named_parameters())
    grads = torch.autograd.grad(logits.square().sum(), list(named.values()))
    for key, grad in zip(named, grads, strict=True):
        assert bool((grad.flatten(1) != 0).any(1).all()), key


@every_model
@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
def test_every_model_trains(graph: Graph, name: str, strategy: str) -> None:
    gnn = MODELS[name](graph.num_features, WIDTH, LAYERS)
    before = {key: value.clone() for key, value in gnn.state_dict().items()}
    runs = [settings_of(strategy=strategy, seed=seed, epochs=60) for seed in (0, 1)]
    result = fit(graph, splits_of(graph, 2), runs, backbone=gnn, threads=1)
    assert float(result.test_accuracy.mean()) > 50
    assert result.settings[0].network.max_steps == LAYERS - 1
    assert int(result.nodes.steps.max()) <= LAYERS - 1
    assert all(torch.equal(value, before[key]) for key, value in gnn.state_dict().items())


def test_a_batch_equals_its_runs_alone_and_seeds_differ(graph: Graph) -> None:
    gnn, splits = pyg.GraphSAGE(graph.num_features, WIDTH, LAYERS), splits_of(graph, 2)
    runs = [settings_of(seed=seed, epochs=5, edge_dropout=0.2) for seed in (3, 8)]
    torch.manual_seed(1)
    both = fit(graph, splits, runs, backbone=gnn, threads=1)
    apart = fit(graph, splits, runs, backbone=gnn, threads=2)
    for run in range(2):
        one = slice(run, run + 1)
        own = Splits("one", splits.train[one], splits.val[one], splits.test[one])
        alone = fit(graph, own, runs[one], backbone=gnn, threads=1)
        torch.testing.assert_close(both.nodes.probabilities[run], alone.nodes.probabilities[0])
    torch.testing.assert_close(both.nodes.probabilities, apart.nodes.probabilities)
    assert not torch.allclose(both.nodes.probabilities[0], both.nodes.probabilities[1])


def test_the_seed_of_pytorch_is_left_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    adapted(pyg.GCN(FEATURES, WIDTH, 2).eval(), runs=2)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_a_list_of_convolutions(graph: Graph, strategy: str) -> None:
    convs = [pyg.SAGEConv(-1, WIDTH), pyg.GraphConv(WIDTH, WIDTH), pyg.TAGConv(WIDTH, WIDTH)]
    runs = [settings_of(strategy=strategy)]
    result = fit(graph, splits_of(graph, 1), runs, backbone=convs, threads=1)
    assert float(result.test_accuracy) > 45
    assert number_of_steps(convs) == number_of_steps(nn.ModuleList(convs)) == 2


def test_edge_dropout_takes_edges_away() -> None:
    seen: list[Tensor] = []

    class Watching(nn.Module):
        def forward(self, x: Tensor, edges: Tensor) -> Tensor:
            seen.append(edges)
            return x

    world, made = World.random(3), adapted([Watching(), Watching()], runs=2)
    made.initial(world.inputs.features, world.inputs.adjacency, None)
    assert torch.equal(seen[-1][[1, 0]], world.edges)
    noise = noise_of([0, 1], 0.5, 0)
    noise = type(noise)(noise.seeds, noise.rates, noise.moment, torch.tensor([0.5, 0.9]))
    made.initial(world.inputs.features, world.inputs.adjacency.dropped(noise), None)
    first, second = seen[-2:]
    assert world.edges.shape[1] > first.shape[1] > second.shape[1]


@pytest.mark.parametrize(
    ("gnn", "cause"),
    [
        (
            pyg.GCN(FEATURES, WIDTH, 3, out_channels=3),
            r"widths \[8, 8, 3\].*leave out_channels out",
        ),
        (pyg.GCN(FEATURES + 1, WIDTH, 3), "convolution 0 does not take 6 features"),
        (pyg.GCN(FEATURES, WIDTH, 1), "1 convolution leaves no step.*give at least two"),
        (pyg.GCN(FEATURES, WIDTH, 3, jk="cat"), "jk='cat' joins all steps.*leave jk out"),
        (pyg.GCN(FEATURES, WIDTH, 3, norm="batch_norm"), "running statistics.*use norm="),
        (pyg.GCN(FEATURES, WIDTH, 3, cached=True), "cached=True.*leave it out"),
        ([nn.Linear(FEATURES, WIDTH)] * 2, "layer 0, Linear, is no convolution of x"),
        (["gcn", "gcn"], "'gcn' is no convolution"),
        (nn.Linear(FEATURES, WIDTH), "Linear is not a BasicGNN.*give its convolutions"),
    ],
)
def test_what_cannot_be_adapted_says_why(gnn: Any, cause: str) -> None:
    with pytest.raises(SettingsError, match=cause):
        adapted(gnn)
