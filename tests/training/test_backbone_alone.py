"""The bare backbone beside a training: depths, the choice of one, and the paired difference."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.parts import BACKBONES
from ppro.settings.settings import Settings
from ppro.training.backbone_alone import (
    Bare,
    against_backbone,
    check_comparable,
    depths_of,
    difference_in_words,
    train_bare,
)
from ppro.training.fit import Fit, fit

QUICK: dict[str, Any] = {"epochs": 4, "hidden": 8, "max_steps": 4}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 80, "classes": 3})


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", 2, 0)


@pytest.fixture(scope="module")
def trained(graph: Graph, splits: Splits) -> Fit:
    return fit(graph, splits, [Settings(seed=r, **QUICK) for r in range(2)])


@pytest.mark.parametrize(
    ("last", "depths"),
    [
        (1, [0, 1]),
        (2, [0, 1, 2]),
        (3, [0, 1, 2, 3]),
        (4, [0, 1, 2, 4]),
        (10, [0, 1, 2, 4, 8, 10]),
        (16, [0, 1, 2, 4, 8, 16]),
    ],
)
def test_depths_double_up_to_the_last(last: int, depths: list[int]) -> None:
    assert depths_of(Settings(max_steps=last)) == depths


@pytest.mark.parametrize("backbone", sorted(BACKBONES))
def test_every_backbone_trains_alone_at_every_depth(
    graph: Graph, splits: Splits, backbone: str
) -> None:
    chosen = [
        Settings.model_validate({"backbone": backbone, "seed": r, "consistency": 0.5, **QUICK})
        for r in range(2)
    ]
    assert depths_of(chosen[0]) == [0, 1, 2, 4]
    for depth in depths_of(chosen[0]):
        found = train_bare(graph, splits, chosen, depth)
        assert found.steps == depth
        assert found.test_score.shape == (2,)
        alone = [one.replace(strategy="none", max_steps=depth) for one in chosen]
        torch.testing.assert_close(found.val_score, fit(graph, splits, alone).val_score)


def bare(steps: int, val: list[float], test: list[float]) -> Bare:
    return Bare(steps, torch.tensor(val), torch.tensor(test))


def test_validation_alone_chooses_the_depth_and_test_nodes_are_paired(trained: Fit) -> None:
    ours = replace(trained, test_score=torch.tensor([0.9, 0.8]))
    tried = [
        bare(0, [0.5, math.nan], [1.0, 1.0]),
        bare(1, [0.7, 0.7], [0.86, 0.78]),
        bare(2, [0.6, 0.8], [0.0, 0.0]),
    ]
    found = against_backbone(ours, tried)
    assert found["steps"] == 1
    assert list(found["tried"]) == ["0", "1", "2"]
    assert found["tried"]["0"] == pytest.approx(25)
    assert found["difference"] == pytest.approx(3)
    assert found["standard_error"] == pytest.approx(1)
    assert (found["runs"], found["verdict"]) == (2, "better")
    told = "+3.00 ± 1.00 over 2 runs: better than the backbone alone"
    doubt = ", but so few runs may agree by chance: --runs 10"
    assert difference_in_words(found) == told + doubt
    assert difference_in_words({**found, "runs": 5}) == told.replace("2 runs", "5 runs")


def test_a_tie_is_told_as_a_tie(trained: Fit) -> None:
    ours = replace(trained, test_score=torch.tensor([0.9, 0.8]))
    found = against_backbone(ours, [bare(1, [0.7, 0.7], [0.88, 0.84])])
    assert found["verdict"] == "tie"
    assert difference_in_words(found).endswith("over 2 runs: a tie, within two standard errors")


def test_runs_that_have_no_score_are_left_out(trained: Fit) -> None:
    ours = replace(trained, test_score=torch.tensor([0.9, math.nan]))
    found = against_backbone(ours, [bare(1, [0.7, 0.7], [0.8, 0.8])])
    assert found["runs"] == 1
    assert difference_in_words(found) == "+10.00 over 1 run: too few to tell"
    none = replace(trained, test_score=torch.tensor([math.nan, math.nan]))
    found = against_backbone(none, [bare(1, [0.7, 0.7], [0.8, 0.8])])
    assert difference_in_words(found) == "no run with test nodes to compare"


def test_what_cannot_be_compared_is_refused(splits: Splits) -> None:
    with pytest.raises(SettingsError, match="gcn is a rival"):
        check_comparable(Settings(model="gcn"))
    with pytest.raises(SettingsError, match="none is the bare backbone itself"):
        check_comparable(Settings(strategy="none"))
    with pytest.raises(SettingsError, match="no test nodes"):
        check_comparable(Settings(), splits.without_test())
    check_comparable(Settings(), splits)


def test_less_of_a_loss_is_better(trained: Fit) -> None:
    settings = tuple(one.replace(metric="log-loss") for one in trained.settings)
    ours = replace(trained, settings=settings, test_score=torch.tensor([0.4, 0.5]))
    tried = [
        Bare(0, torch.tensor([0.9, math.nan]), torch.tensor([0.0, 0.0]), "log-loss"),
        Bare(1, torch.tensor([0.6, 0.6]), torch.tensor([0.7, 0.9]), "log-loss"),
        Bare(2, torch.tensor([0.8, 0.7]), torch.tensor([0.0, 0.0]), "log-loss"),
    ]
    found = against_backbone(ours, tried)
    assert found["steps"] == 1
    assert found["tried"]["1"] == pytest.approx(0.6)
    assert found["difference"] == pytest.approx(-0.35)
    assert found["verdict"] == "better"
