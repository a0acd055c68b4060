from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from ppro.data import load_graph, make_splits
from ppro.errors import SettingsError
from ppro.search.auto_candidates import PLAIN
from ppro.search.auto_final import fit_until, plan_training, search_and_plan
from ppro.search.auto_trials import Choice, Trial
from ppro.settings.settings import Settings
from ppro.training.fit import fit


def choice(settled: float, epoch_seconds: float) -> Choice:
    found = Trial(PLAIN, (90.0,), 1.0, settled=settled, epochs=100)
    return Choice(Settings(), (found,), 1.0, epoch_seconds)


@pytest.mark.parametrize(
    ("seconds", "runs", "epochs"),
    [(1000.0, 10, 1000), (20.0, 10, 200), (3.0, 3, 100), (0.4, 1, 40)],
)
def test_runs_are_fewer_before_epochs_are(seconds: float, runs: int, epochs: int) -> None:
    plan = plan_training(choice(20.0, 0.01), 10, 1000, 1, time.monotonic() + seconds)
    assert plan.runs == runs
    assert plan.foreseen == pytest.approx(epochs, rel=0.05)
    # A training that is faster than foreseen has epochs left; the clock ends one that is not.
    assert 2 * plan.foreseen < plan.epochs or plan.epochs == 1000
    assert ("3 of 10 runs" in plan.note) == (runs == 3)
    assert ("epochs" in plan.note) == (epochs < 80)


def test_who_is_still_learning_gets_more_epochs() -> None:
    until = time.monotonic() + 12.0
    assert plan_training(choice(20.0, 0.01), 10, 1000, 1, until).runs == 10
    plan = plan_training(choice(95.0, 0.01), 10, 1000, 1, until)
    assert plan.runs in (3, 4)
    assert plan.epochs >= 300


def test_a_training_that_ends_in_time_is_whole() -> None:
    graph = load_graph("csbm", options={"nodes": 120, "features": 12})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    settings = [Settings(epochs=100_000, patience=100_000, max_steps=1)]
    begin = time.monotonic()
    result = fit_until(fit, begin + 1.0, graph, splits, settings, threads=1)
    assert time.monotonic() - begin < 10.0
    assert not result.history.interrupted
    assert 0 < int(result.history.epochs[0]) < 100_000


def test_search_and_training_share_the_budget() -> None:
    graph = load_graph("csbm", options={"nodes": 120, "features": 12})
    splits = make_splits(graph, "csbm", "random-60-20-20", 3, 0)
    given: dict[str, Any] = {"metric": "macro-f1", "seed": 7, "hidden": 16}
    begin = time.monotonic()
    limits: Any = {"budget": 4.0, "start": begin, "threads": 1}
    found, plan = search_and_plan(graph, splits, None, given, **limits)
    assert time.monotonic() - begin < 4.0
    assert found.settings.training.metric == found.trials[0].metric == "macro-f1"
    assert (found.settings.seed, found.settings.network.hidden) == (7, 16)
    settings = [found.settings.replace(seed=7 + run) for run in range(plan.runs)]
    result = fit_until(fit, plan.until, graph, splits.first(plan.runs), settings, threads=1)
    assert time.monotonic() - begin < 4.0 + 0.8
    assert torch.isfinite(result.val_score).all()
    with pytest.raises(SettingsError, match="leaves no time"):
        search_and_plan(graph, splits, None, {}, budget=0, start=begin)
