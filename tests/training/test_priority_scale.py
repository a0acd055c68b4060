"""Priorities of mean 1 under the paper's teaching: ``priority_scale = "mean"``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro import PPro, load
from ppro.data import Splits, load_graph, make_splits
from ppro.data.large import LargePlan, generate_large, read_large
from ppro.data.splits import fixed_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.nn import losses
from ppro.nn.batched import PProNetwork
from ppro.nn.controller_blocks import BlockedControllers
from ppro.settings.settings import Settings, parse_settings
from ppro.training.fit import Fit, fit
from ppro.training.trainer import Trainer
from tests.support import World, build_ppro, model64, noise_of, small_settings, tensor64

ROWS = [[0, 3, 4, 5, 7, 8], [1, 2, 6, 9]]
both_forms = pytest.mark.parametrize("form", ["softplus", "tanh"])


def made(**changes: Any) -> PProNetwork:
    values: dict[str, Any] = {"priority_scale": "mean", **changes}
    return model64([small_settings(seed=seed, **values) for seed in (4, 9)])


def mean_of(model: PProNetwork) -> Tensor:
    assert model.controllers is not None
    assert model.controllers.mean_weight is not None
    return model.controllers.mean_weight


def gradient(model: PProNetwork, world: World) -> Tensor:
    """Of the weight controller alone: the propagation controller is off."""
    loss = model.controller_loss(world.inputs, world.rows(ROWS), noise_of([4, 9], 0.3, 1))
    grads = torch.autograd.grad(loss.sum(), model.phi(), materialize_grads=True)
    return torch.cat([g.flatten() for g in grads])


@settings(deadline=None, max_examples=15)
@given(st.floats(0.01, 100), st.sampled_from(["softplus", "tanh"]))
def test_the_controllers_learn_the_same_whatever_the_scale_of_the_errors(
    factor: float, form: str
) -> None:
    world = World.random(0)
    found = []
    for scale in (1.0, factor):
        model = made(weight_form=form, use_propagation=False)
        model.criterion = lambda *given, scale=scale: scale * losses.prediction_error(*given)
        found.append(gradient(model, world))
    torch.testing.assert_close(found[0], found[1], atol=1e-9, rtol=1e-7)
    assert float(found[0].abs().max()) > 0


@both_forms
def test_the_mean_is_1_over_the_rows_of_every_pass_and_is_kept(form: str) -> None:
    world, model = World.random(1), made(weight_form=form)
    rows = world.rows(ROWS)
    passes = [model(world.inputs, rows, noise_of([4, 9], 0.5, moment)) for moment in (1, 2)]
    weights = torch.stack([outcome.weights for outcome in passes])
    before = mean_of(model).clone()
    means = losses.node_mean(weights, rows.valid)
    found = losses.node_mean(model.scaled(weights, rows.valid), rows.valid)
    torch.testing.assert_close(found, torch.ones_like(found), atol=1e-14, rtol=0)
    torch.testing.assert_close(mean_of(model), before * means.mean(0).unsqueeze(1))


def test_weights_of_classes_count_in_the_mean() -> None:
    world, model = World.random(2), made()
    valid = tensor64(2, 6, seed=3).exp()
    weights = model(world.inputs, world.rows([ROWS[0]] * 2)).weights
    scaled = model.scaled(weights, valid)
    torch.testing.assert_close((scaled * valid).sum(1), valid.sum(1))


def test_where_all_priorities_are_0_they_stay_finite() -> None:
    model = made(weight_form="tanh")
    zeros, ones = torch.zeros(2, 5).double(), torch.ones(2, 5).double()
    for _ in range(10):
        assert bool((model.scaled(zeros, ones) == 0).all())
    assert bool((mean_of(model) > 0).all())


def test_the_paper_s_form_divides_by_nothing() -> None:
    model, weights = made(priority_scale="paper"), tensor64(2, 5).exp()
    assert model.controllers is not None
    assert model.controllers.mean_weight is None
    assert model.scaled(weights, torch.ones_like(weights)) is weights
    bare = made(use_weighting=False)
    assert bare.scaled(weights, torch.ones_like(weights)) is weights


def test_blocks_of_rows_are_divided_too(monkeypatch: pytest.MonkeyPatch) -> None:
    world, model = World.random(3), made()
    mean_of(model).data.fill_(0.25)
    expected = model(world.inputs, world.all_rows(2)).weights
    monkeypatch.setattr(BlockedControllers, "many_rows", 3)
    monkeypatch.setattr(BlockedControllers, "block_rows", 2)
    torch.testing.assert_close(model(world.inputs, world.all_rows(2)).weights, expected)


def graph_of(nodes: int = 120) -> Graph:
    return load_graph("csbm", options={"nodes": nodes, "classes": 3, "features": 8, "degree": 4})


def trained(graph: Graph, splits: Splits, **changes: Any) -> Fit:
    base: dict[str, Any] = {"hidden": 8, "max_steps": 3, "epochs": 25, "lr_controller": 0.02}
    runs = [
        Settings(**{**base, "priority_scale": "mean", "seed": seed, **changes})
        for seed in range(splits.train.shape[0])
    ]
    return fit(graph, splits, runs, threads=1)


@both_forms
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"strategy": "l2u", "use_progress": True},
        {"consistency": 1.0, "consistency_on": "priority", "node_dropout": 0.2},
        {"backbone": "gat", "heads": 2, "patience": 2},
    ],
    ids=str,
)
def test_trained_priorities_have_mean_1_over_the_training_nodes(
    form: str, changes: dict[str, Any]
) -> None:
    graph = graph_of()
    splits = make_splits(graph, "csbm", "random-60-20-20", 3, 0)
    result = trained(graph, splits, weight_form=form, **changes)
    for run in range(3):
        of_training = result.nodes.priorities[run][splits.train[run]]
        assert float(of_training.mean()) == pytest.approx(1, abs=1e-5)
        assert float(of_training.std()) > 0


def test_a_pass_that_theta_learns_from_weighs_by_mean_1() -> None:
    """Doubling every priority changes nothing, where L_g stands beside decay and consistency."""
    world = World.random(4)
    runs = [small_settings(seed=s, priority_scale="mean", consistency=1.0) for s in (4, 9)]
    found = []
    for factor in (1.0, 2.0):
        model = build_ppro(6, 3, runs).double()
        mean_of(model).data.fill_(1 / factor)
        trainer = Trainer(model, world.inputs, world.rows(ROWS), world.rows(ROWS), runs)
        trainer.record.now.fill_(30)
        trainer.update_backbone()
        found.append(torch.cat([p.detach().flatten() for p in model.backbone.parameters()]))
    torch.testing.assert_close(found[0], found[1], atol=1e-9, rtol=1e-9)


def test_the_estimator_takes_it_through_a_file(tmp_path: Path) -> None:
    graph = graph_of()
    own = {"priority_scale": "mean", "lr_controller": 0.05, "judge_share": 0.3}
    model = PPro(hidden=8, max_steps=2, epochs=15, device="cpu", settings=own).fit(graph)
    w = model.node_priorities_
    assert w.std() > 0
    assert abs(w.mean() - 1) < 0.5
    model.save(tmp_path / "kept")
    again = load(tmp_path / "kept")
    assert isinstance(again, PPro)
    assert np.allclose(again.describe(graph).priorities, w)


def test_a_graph_on_disk_has_them_too(tmp_path: Path) -> None:
    generate_large(tmp_path, LargePlan(nodes=600, degree=6, classes=3, features=8))
    graph, masks = read_large(tmp_path)
    assert masks is not None
    splits = fixed_splits(masks, graph.labels, "stated", 2)
    result = trained(graph, splits, form="class", epochs=6)
    for run in range(2):
        of_training = result.nodes.priorities[run][splits.train[run]]
        assert float(of_training.mean()) == pytest.approx(1, abs=1e-5)
        assert float(of_training.std()) > 0


def test_no_penalty_is_refused_with_a_reason() -> None:
    with pytest.raises(SettingsError, match=r"priority_scale=mean with lambda1 = 0.*lambda1 above"):
        parse_settings({"priority_scale": "mean", "lambda1": 0.0}, "here")
    parse_settings({"priority_scale": "mean", "lambda1": 0.0, "use_weighting": False}, "here")


@pytest.mark.data
def test_priorities_differ_on_texas_where_the_paper_s_saturate() -> None:
    root = Path(os.environ["PPRO_DATA"])
    texas = load_graph("texas", data_root=root, offline=True)
    splits = make_splits(texas, "texas", "random-60-20-20", 3, 0)
    own = {"feature_norm": "none", "decay": "all", "weight_decay": 5e-3, "alpha": 0.0}
    own |= {"weight_form": "tanh", "concat": True, "max_steps": 5, "propagation_bias": 0.0}
    own |= {"lr": 0.05, "lr_controller": 0.01, "dropout": 0.2, "epochs": 150, "patience": 150}
    spread = {}
    for scale, lambda1 in (("paper", 0.1), ("mean", 1.0)):
        result = trained(texas, splits, **own, priority_scale=scale, lambda1=lambda1)
        w = result.nodes.priorities
        spread[scale] = w.std(1) / w.mean(1)
        if scale == "paper":
            assert float(w.median(1).values.max()) > 1.99
        else:
            assert float(w.max()) < 4
    assert float(spread["paper"].min()) < 0.01
    assert float(spread["mean"].min()) > 0.02
