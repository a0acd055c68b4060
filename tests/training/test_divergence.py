"""Losses that are no numbers: never the best state, never a result without a word."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.features import lost_rows
from ppro.data import Splits, load_graph, make_splits
from ppro.errors import TrainingError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.divergence import first_divergence
from ppro.training.fit import fit
from ppro.training.stopping import MEASURED, Record

OPTIONS = {"nodes": 80, "classes": 3, "features": 8, "degree": 4}
USUAL: dict[str, Any] = {"epochs": 6, "hidden": 8, "controller_units": 4, "max_steps": 2}


@pytest.fixture
def graph() -> Graph:
    return load_graph("csbm", options=OPTIONS)


def splits(graph: Graph, runs: int = 1) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", runs, 0)


def epoch_of(**values: float) -> Tensor:
    return torch.tensor([[values.get(name, 0.5)] for name in MEASURED])


@pytest.mark.parametrize("name", ["train_loss", "val_loss"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_state_with_a_loss_that_is_no_number_is_never_the_best(name: str, value: float) -> None:
    record = Record([torch.zeros(1, 1)], 3, 10)
    record.update(epoch_of(val_score=0.9, **{name: value}), [torch.full((1, 1), 1.0)])
    record.update(epoch_of(val_score=0.1), [torch.full((1, 1), 2.0)])
    record.update(epoch_of(val_score=0.8, val_loss=value), [torch.full((1, 1), 3.0)])
    assert record.states[0].item() == 2
    assert record.history(False).best_epoch.item() == 1


def test_a_state_that_holds_no_numbers_is_never_the_best() -> None:
    record = Record([torch.zeros(2, 2), torch.zeros(2, 1)], 3, 10)
    both = epoch_of(val_score=0.9).expand(-1, 2)
    broken = torch.tensor([[1.0, 1.0], [1.0, float("nan")]])
    record.update(both, [broken, torch.ones(2, 1)])
    assert record.states[0].tolist() == [[1, 1], [0, 0]]
    assert record.best_epoch.tolist() == [0, 0]
    assert record.score.tolist() == pytest.approx([0.9, -float("inf")])


@pytest.mark.parametrize("teaching", ["paper", "compare"])
def test_a_learning_rate_out_of_all_bounds_is_named(graph: Graph, teaching: str) -> None:
    with pytest.raises(
        TrainingError, match=r"every run is not finite from epoch [12] on.*lr = 1e\+30"
    ):
        fit(
            graph,
            splits(graph, 2),
            [Settings(lr=1e30, seed=s, teaching=teaching, **USUAL) for s in (0, 1)],
        )


def test_the_run_that_has_nothing_to_keep_is_named(graph: Graph) -> None:
    rates = (0.01, 1e30, 0.01)
    settings = [Settings(lr=lr, seed=s, **USUAL) for s, lr in enumerate(rates)]
    with pytest.raises(TrainingError, match=r"the loss of run 1 is"):
        fit(graph, splits(graph, 3), settings)
    kept = fit(graph, splits(graph, 3), settings, diverged="keep")
    assert first_divergence(kept.history) == [None, 1, None]
    assert all(bool(p.isfinite().all()) for p in kept.model.parameters())
    assert bool(kept.nodes.probabilities.isfinite().all())


def test_features_out_of_all_bounds_are_named(graph: Graph) -> None:
    wild = replace(graph, features=graph.features.to_dense() * 1e30)
    settings = Settings(feature_norm="none", **USUAL)
    with pytest.raises(TrainingError, match=r"features reach \d.*e\+3\d.*set feature_norm=row"):
        fit(wild, splits(graph), [settings])


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_normalise_to_zero_are_counted(sparse: bool) -> None:
    rows = torch.tensor([[1.0, 2.0], [0.0, 0.0], [3e38, 3e38], [1e25, 1e25], [1e-25, 0.0]])
    x = rows.to_sparse_csr() if sparse else rows
    assert lost_rows(x, "none") == 0
    assert lost_rows(x, "row") == 1
    assert lost_rows(rows[:3].to_sparse_csr() if sparse else rows[:3], "unit") == 1


def test_rows_that_normalise_to_zero_are_told(
    graph: Graph, caplog: pytest.LogCaptureFixture
) -> None:
    x = graph.features.to_dense().clone()
    x[:2] = 3e38
    wild = replace(graph, features=x)
    with caplog.at_level(logging.WARNING):
        fit(wild, splits(graph), [Settings(feature_norm="row", **USUAL)])
    assert "2 rows of features become zero when normalised (feature_norm=row)" in caplog.text
