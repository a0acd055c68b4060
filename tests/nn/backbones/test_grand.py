"""GRAND's normalisation: whose statistics count, and that they are kept with the weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric import nn as pyg

from ppro.compute.layers import RunBatchNorm, generators
from ppro.data import load_graph, make_splits
from ppro.errors import SettingsError
from ppro.nn.backbones.grand import GRAND
from ppro.settings.settings import Settings, parse_settings
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from ppro.training.fit import fit
from tests.support import CPU, World, model64, noise_of, small_settings

DEPTH = 3
OWN: dict[str, Any] = {"backbone": "grand", "consistency": 1.0, "hidden": 6, "max_steps": DEPTH}


def test_normalisation_is_batchnorm1d() -> None:
    layer, expected = RunBatchNorm(generators([0]), 4).double(), nn.BatchNorm1d(4).double()
    for i, x in enumerate(torch.randn(3, 1, 9, 4, generator=generators([1])[0]).double()):
        own, theirs = layer(x, slice(2, None)), expected(x[0, 2:])
        torch.testing.assert_close(own[0, 2:], theirs)
        torch.testing.assert_close(layer.mean[0], expected.running_mean)
        # PyTorch keeps the running variance with Bessel's correction.
        theirs = expected.get_buffer("running_var")
        assert i > 0 or bool((layer.variance[0] < theirs).all())
    x = torch.ones(1, 2, 4).double()
    kept = [p.clone() for p in layer.statistics()]
    plain = (x - layer.mean.unsqueeze(1)) / (layer.variance.unsqueeze(1) + 1e-5).sqrt()
    torch.testing.assert_close(layer(x, None), plain)
    assert all(torch.equal(p, q) for p, q in zip(kept, layer.statistics(), strict=True))


@pytest.mark.parametrize("run", [0, 1])
def test_it_is_an_mlp_of_propagated_features(run: int) -> None:
    world = World.random(6, nodes=20)
    runs = [small_settings(**{**OWN, "strategy": "none", "alpha": 0.3, "seed": s}) for s in (0, 1)]
    model = model64(runs)
    b = model.backbone
    assert isinstance(b, GRAND)
    x = pyg.APPNP(DEPTH, alpha=0.3)(world.x, world.edges)

    def normalised(x: Tensor, norm: RunBatchNorm) -> Tensor:
        mean, variance = norm.mean[run].detach(), norm.variance[run].detach()
        return F.batch_norm(x, mean, variance, norm.weight[run], norm.bias[run])

    hidden = F.relu(normalised(x, b.norm1) @ b.layer.weight[run] + b.layer.bias[run])
    expected = normalised(hidden, b.norm2) @ b.output.weight[run] + b.output.bias[run]
    logits = model(world.inputs, world.all_rows(2)).logits[run]
    torch.testing.assert_close(logits.detach(), expected.detach())


def test_only_a_pass_over_all_nodes_that_learns_moves_the_statistics() -> None:
    world = World.random(7, nodes=20)
    model = model64([small_settings(**{**OWN, "seed": seed}) for seed in (0, 1)])
    start = [p.clone() for p in model.statistics()]

    def moved() -> bool:
        return any(not torch.equal(p, q) for p, q in zip(start, model.statistics(), strict=True))

    drop = noise_of([4, 9], 0.4, 3)
    model(world.inputs, world.all_rows(2))
    model(world.inputs, world.rows([[0, 3], [1, 2]]), drop)
    with torch.no_grad():
        model(world.inputs, world.all_rows(2), drop)
    assert not moved()
    model(world.inputs, world.all_rows(2), drop)
    assert moved()


def test_nothing_decays_the_statistics_and_the_best_state_keeps_them() -> None:
    graph = load_graph("csbm", options={"nodes": 150, "classes": 3, "features": 16, "degree": 4})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    own: dict[str, Any] = {**OWN, "feature_norm": "none", "epochs": 30, "node_dropout": 0.5}
    runs = [Settings(**own, decay="all", weight_decay=1.0, seed=seed) for seed in (0, 1)]
    result = fit(graph, splits, runs, threads=1)
    weights = result.model.state_dict()
    # Features of this graph have a variance near 1; one that decayed would be near 0.
    assert bool((weights["backbone.norm1.variance"] > 0.01).all())
    fresh = build_model(graph.num_features, graph.num_classes, runs, CPU)
    fresh.load_state_dict(weights)
    logits = fresh(prepare_inputs(graph, runs[0], CPU), all_rows(graph, 2, CPU)).logits
    torch.testing.assert_close(logits.softmax(-1), result.nodes.probabilities)


def test_it_says_what_it_needs() -> None:
    with pytest.raises(SettingsError, match=r"passes over all nodes; set consistency above 0"):
        parse_settings({"backbone": "grand"}, "here")
