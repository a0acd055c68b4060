from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric import nn as pyg

from ppro.compute.features import FEATURE_SITE
from ppro.compute.layers import generators
from ppro.compute.noise import matrix_ids
from ppro.nn.backbones.appnp import APPNP, APPNPSettings
from ppro.nn.backbones.base import STATE_SITE
from ppro.nn.part import NetworkSizes
from ppro.training.fit import fit
from tests.support import CPU, World, model64, noise_of, small_settings, tensor64
from tests.training.comparing.support import settings_of, small_graph, splits_of


def backbone(form: str, *, concat: bool = False, alpha: float = 0.25) -> APPNP:
    changes = {"form": form, "concat": concat, "alpha": alpha, "strategy": "none"}
    made = model64([small_settings(**changes), small_settings(**changes, seed=1)]).backbone
    assert isinstance(made, APPNP)
    return made


def first_product(made: APPNP, run: int, x: Tensor) -> Tensor:
    """X W1, entry by entry."""
    weight = made.weight1[run].detach()
    out = torch.zeros(x.shape[0], weight.shape[1], dtype=torch.float64)
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = sum(float(x[i, j]) * float(weight[j, c]) for j in range(x.shape[1]))
    return out


def activated(made: APPNP, run: int, h: Tensor) -> Tensor:
    """ReLU(h + b1), entry by entry."""
    bias = made.bias1[run].detach()
    rows = [[max(0.0, float(v + b)) for v, b in zip(row, bias, strict=True)] for row in h]
    return torch.tensor(rows, dtype=torch.float64)


def hidden_layer(made: APPNP, run: int, x: Tensor) -> Tensor:
    """ReLU(X W1 + b1)."""
    return activated(made, run, first_product(made, run, x))


def output_layer(made: APPNP, run: int, h: Tensor) -> Tensor:
    return h @ made.output.weight[run].detach() + made.output.bias[run].detach()


@pytest.mark.parametrize("form", ["hidden", "class", "features"])
def test_embed_is_the_network_before_propagation(form: str) -> None:
    world, made = World.random(0), backbone(form)
    h0 = made.embed(world.inputs.features, None)
    for run in range(2):
        expected = first_product(made, run, world.x)
        if form != "features":
            expected = activated(made, run, expected)
        if form == "class":
            expected = output_layer(made, run, expected)
        torch.testing.assert_close(h0[run].detach(), expected)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.9])
def test_a_step_aggregates_and_teleports(alpha: float) -> None:
    world, made = World.random(1), backbone("hidden", alpha=alpha)
    h, h0 = tensor64(2, world.nodes, 5), tensor64(2, world.nodes, 5, seed=1)
    aggregate, updated = made.step(1, h, h0, world.inputs.adjacency, None)
    for i in range(world.nodes):
        expected = torch.zeros(2, 5, dtype=torch.float64)
        for j in range(world.nodes):
            expected += world.a_hat[i, j] * h[:, j]
        torch.testing.assert_close(aggregate[:, i], expected)
        torch.testing.assert_close(updated[:, i], (1 - alpha) * expected + alpha * h0[:, i])


@pytest.mark.parametrize("concat", [False, True])
def test_the_hidden_form_classifies_after_propagation(concat: bool) -> None:
    made, h, h0 = backbone("hidden", concat=concat), tensor64(2, 4, 5), tensor64(2, 4, 5, seed=1)
    nodes = torch.arange(4).expand(2, -1)
    found = made.classify(h, h0, nodes, None).detach()
    for run in range(2):
        seen = torch.cat([h[run], h0[run]], dim=1) if concat else h[run]
        torch.testing.assert_close(found[run], output_layer(made, run, seen))


@pytest.mark.parametrize("concat", [False, True])
def test_the_features_form_is_activated_after_propagation(concat: bool) -> None:
    made, h, h0 = backbone("features", concat=concat), tensor64(2, 4, 5), tensor64(2, 4, 5, seed=1)
    nodes = torch.arange(4).expand(2, -1)
    found = made.classify(h, h0, nodes, None).detach()
    for run in range(2):
        parts = [activated(made, run, part[run]) for part in ((h, h0) if concat else (h,))]
        torch.testing.assert_close(found[run], output_layer(made, run, torch.cat(parts, dim=1)))


def test_the_class_form_is_its_own_prediction() -> None:
    h = tensor64(2, 4, 3)
    made = backbone("class", concat=True)
    found = made.classify(h, h, torch.arange(4).expand(2, -1), noise_of([0, 1], 0.5, 0))
    assert torch.equal(found, h)


@pytest.mark.parametrize(("depth", "alpha"), [(1, 0.0), (4, 0.1), (10, 0.5)])
def test_class_scores_propagate_as_in_pytorch_geometric(depth: int, alpha: float) -> None:
    world = World.random(3, nodes=20)
    model = model64([small_settings(strategy="none", form="class", alpha=alpha, max_steps=depth)])
    assert isinstance(model.backbone, APPNP)
    scores = output_layer(model.backbone, 0, hidden_layer(model.backbone, 0, world.x))
    expected = pyg.APPNP(K=depth, alpha=alpha)(scores, world.edges)
    found = model(world.inputs, world.all_rows()).logits[0].detach()
    torch.testing.assert_close(found, expected)


def test_only_the_first_weights_decay() -> None:
    made = APPNP(NetworkSizes(generators([0]), 6, 3), APPNPSettings(hidden=5, alpha=0.1))
    assert [id(p) for p in made.decayed()] == [id(made.weight1)]


def test_features_and_states_drop_at_rates_of_their_own() -> None:
    world, made = World.random(0), backbone("hidden")
    usual = noise_of((3, 4), 0.5, 2)
    apart = replace(
        usual,
        site_rates={
            FEATURE_SITE: torch.tensor([0.0, 0.5]),
            STATE_SITE: torch.tensor([0.25, 0.0]),
        },
    )
    x = world.inputs.features
    h0, same = made.embed(x, apart), made.embed(x, usual)
    # The second run drops features at its usual rate and no states.
    torch.testing.assert_close(h0[1], same[1], rtol=0, atol=0)
    ids = matrix_ids(torch.arange(h0.shape[1]), h0.shape[2]).unsqueeze(0)
    kept = apart.scale(ids, STATE_SITE)[0].double()
    assert {round(v, 4) for v in kept.flatten().tolist()} == {0.0, round(4 / 3, 4)}
    torch.testing.assert_close(h0[0].detach(), hidden_layer(made, 0, world.x) * kept)


@pytest.mark.parametrize("teaching", ["paper", "compare"])
def test_rates_apart_reach_the_network_in_training(teaching: str) -> None:
    graph = small_graph()

    def history(**changes: Any) -> Tensor:
        wanted = settings_of(1, epochs=3, teaching=teaching, dropout=0.5, **changes)
        return fit(graph, splits_of(graph, 1), wanted, device=CPU).history.metrics.nan_to_num()

    usual = history()
    assert torch.equal(usual, history(feature_dropout=0.5))
    assert not torch.equal(usual, history(feature_dropout=0.0))
    assert not torch.equal(usual, history(state_dropout=0.5))


def test_runs_with_rates_apart_are_the_same_in_a_batch() -> None:
    graph = small_graph()
    splits = splits_of(graph, 1)
    (usual,) = settings_of(1, epochs=3, teaching="paper")
    both = [usual, usual.replace(feature_dropout=0.1)]
    alone = [fit(graph, splits, [one], device=CPU).history.metrics for one in both]
    rows = torch.zeros(2, dtype=torch.int64)
    together = fit(graph, splits.take(rows), both, device=CPU).history.metrics
    torch.testing.assert_close(together, torch.cat(alone, dim=2), rtol=1e-5, atol=1e-6)


def test_a_scaled_first_layer_suits_rows_of_length_one() -> None:
    sizes = NetworkSizes(generators([0]), 400, 3)
    made = APPNP(sizes, APPNPSettings(hidden=500, first_layer="scaled"))
    x = torch.nn.functional.normalize(torch.rand(50, 400), dim=1)
    h = x @ made.weight1[0].detach()
    assert float(h.var()) == pytest.approx(2, rel=0.1)
    usual = APPNP(NetworkSizes(generators([0]), 400, 3), APPNPSettings(hidden=500))
    assert float((x @ usual.weight1[0].detach()).var()) < 0.01
