from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, accuracy, fit
from ppro.training.stopping import MEASURED

Change = dict[str, Any]
STRATEGIES: list[Change] = [{"strategy": s} for s in ("l2b", "l2u", "none")]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 150, "classes": 3, "features": 16, "degree": 4})


def splits_of(graph: Graph, runs: int, seed: int = 0) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", runs, seed)


def settings_of(**changes: Any) -> Settings:
    base: Change = {
        **{"hidden": 8, "controller_units": 8, "max_steps": 3, "epochs": 12, "lr": 0.02},
        **{"feature_norm": "none", "propagation_bias": 0.0, "lr_controller": 0.01},
    }
    return Settings.model_validate({**base, **changes})


def one_of(splits: Splits, run: int) -> Splits:
    part = slice(run, run + 1)
    return Splits(splits.name, splits.train[part], splits.val[part], splits.test[part])


def states(result: Fit) -> dict[str, Tensor]:
    return dict(result.model.state_dict())


def metric(result: Fit, name: str) -> Tensor:
    return result.history.metrics[:, MEASURED.index(name)]


def test_a_split_of_another_number_of_runs_is_refused(graph: Graph) -> None:
    for runs, given in ((1, 2), (3, 2), (2, 0)):
        with pytest.raises(
            SettingsError, match=rf"is of {runs} runs, .* settings of {given}; give"
        ):
            fit(graph, splits_of(graph, runs), [settings_of()] * given)


def assert_identical(a: Fit, b: Fit) -> None:
    """Weights, metrics and results, bit by bit."""
    assert states(a).keys() == states(b).keys()
    for name, value in states(a).items():
        assert torch.equal(value, states(b)[name]), name
    assert torch.equal(a.history.metrics.nan_to_num(-1), b.history.metrics.nan_to_num(-1))
    assert torch.equal(a.history.best_epoch, b.history.best_epoch)
    assert torch.equal(a.nodes.probabilities, b.nodes.probabilities)
    assert torch.equal(a.nodes.steps, b.nodes.steps)
    assert torch.equal(a.nodes.priorities, b.nodes.priorities)


@pytest.mark.parametrize("changes", STRATEGIES, ids=str)
def test_the_same_seed_gives_the_same_bits(graph: Graph, changes: Change) -> None:
    splits = splits_of(graph, 2)
    runs = [settings_of(**changes, seed=seed, edge_dropout=0.1) for seed in (0, 1)]
    first, second = fit(graph, splits, runs), fit(graph, splits, runs)
    assert_identical(first, second)
    assert torch.equal(first.test_accuracy, second.test_accuracy)
    assert not torch.equal(first.nodes.probabilities[0], first.nodes.probabilities[1])


def test_another_seed_gives_another_result(graph: Graph) -> None:
    splits = splits_of(graph, 1)
    one, two = (fit(graph, splits, [settings_of(seed=seed)]) for seed in (0, 1))
    assert not torch.equal(one.nodes.probabilities, two.nodes.probabilities)


@pytest.mark.parametrize("changes", STRATEGIES, ids=str)
def test_a_batch_equals_each_run_alone(graph: Graph, changes: Change) -> None:
    splits = splits_of(graph, 3)
    own: list[Change] = [
        {"seed": 5, "lr": 0.005, "dropout": 0.2},
        {"seed": 0, "lr": 0.05, "dropout": 0.7, "epsilon": 0.4, "lambda1": 0.2},
        {"seed": 9, "weight_decay": 0.01, "edge_dropout": 0.3, "lambda2": 0.5},
    ]
    runs = [settings_of(**changes, **one, epochs=8) for one in own]
    batch = fit(graph, splits, runs)
    for run, chosen in enumerate(runs):
        alone = fit(graph, one_of(splits, run), [chosen])
        assert_same_run(batch, run, alone)


def near(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)


def assert_same_run(batch: Fit, run: int, alone: Fit) -> None:
    """Up to the rounding of sums taken in another order."""
    epochs = int(alone.history.epochs)
    assert int(batch.history.epochs[run]) == epochs
    assert int(batch.history.best_epoch[run]) == int(alone.history.best_epoch)
    near(batch.history.metrics[:epochs, :, run], alone.history.metrics[:, :, 0])
    near(batch.nodes.probabilities[run], alone.nodes.probabilities[0])
    assert torch.equal(batch.nodes.steps[run], alone.nodes.steps[0])
    near(batch.nodes.priorities[run], alone.nodes.priorities[0])
    for name, value in states(alone).items():
        near(states(batch)[name][run], value[0])


@pytest.fixture(scope="module")
def stopped(graph: Graph) -> tuple[Fit, Splits, list[Settings]]:
    """Runs that stop at different times, some of them before the last epoch."""
    rates = (0.002, 0.02, 0.05, 0.1)
    runs = [settings_of(seed=seed, lr=lr, patience=6, epochs=60) for seed, lr in enumerate(rates)]
    splits = splits_of(graph, 4)
    return fit(graph, splits, runs), splits, runs


Stopped = tuple[Fit, Splits, list[Settings]]


def test_each_run_stops_after_its_patience_at_its_best_epoch(stopped: Stopped) -> None:
    result, _, runs = stopped
    assert len(set(result.history.epochs.tolist())) >= 3
    for run, chosen in enumerate(runs):
        scores = list(
            zip(
                metric(result, "val_accuracy")[:, run].tolist(),
                metric(result, "val_loss")[:, run].tolist(),
                strict=True,
            )
        )[: int(result.history.epochs[run])]
        best = max(range(len(scores)), key=lambda e: (scores[e][0], -scores[e][1], -e))
        assert int(result.history.best_epoch[run]) == best
        assert len(scores) == min(chosen.training.epochs, best + chosen.training.patience + 1)


def test_the_model_is_left_in_the_state_that_was_measured_best(stopped: Stopped) -> None:
    result, _, runs = stopped
    for run in range(len(runs)):
        recorded = metric(result, "val_accuracy")[int(result.history.best_epoch[run]), run]
        assert float(result.val_accuracy[run]) == pytest.approx(100 * float(recorded), abs=1e-4)
    assert result.best_run == int(result.val_score.argmax())


def test_runs_that_stop_are_not_affected_by_those_that_go_on(
    graph: Graph, stopped: Stopped
) -> None:
    result, splits, runs = stopped
    for run, chosen in enumerate(runs):
        assert_same_run(result, run, fit(graph, one_of(splits, run), [chosen]))


def test_ctrl_c_keeps_the_best_states_so_far(graph: Graph) -> None:
    splits, runs = splits_of(graph, 2), [settings_of(seed=seed) for seed in (0, 1)]

    def interrupt(epoch: int, metrics: Tensor, going: int) -> None:
        assert metrics.shape == (len(MEASURED), 2)
        assert going == 2
        if epoch == 4:
            raise KeyboardInterrupt

    cut = fit(graph, splits, runs, on_epoch=interrupt)
    assert cut.history.interrupted
    assert cut.history.epochs.tolist() == [4, 4]
    short = fit(graph, splits, [s.replace(epochs=4) for s in runs])
    assert not short.history.interrupted
    assert_identical(cut, short)


def test_every_epoch_is_reported(graph: Graph) -> None:
    seen: list[tuple[int, Tensor]] = []
    result = fit(
        graph,
        splits_of(graph, 1),
        [settings_of(epochs=3)],
        on_epoch=lambda epoch, metrics, going: seen.append((epoch, metrics.clone())),
    )
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    assert torch.equal(torch.stack([metrics for _, metrics in seen]), result.history.metrics)


@pytest.mark.parametrize("changes", STRATEGIES, ids=str)
def test_no_test_label_is_used(graph: Graph, changes: Change) -> None:
    splits, runs = splits_of(graph, 1), [settings_of(**changes)]
    known = splits.train[0] | splits.val[0]
    poisoned = replace(graph, labels=torch.where(known, graph.labels, (graph.labels + 1) % 3))
    hidden = replace(graph, labels=torch.where(known, graph.labels, -1))
    honest = fit(graph, splits, runs)
    for other in (poisoned, hidden):
        assert_identical(honest, fit(other, splits, runs))


@pytest.mark.parametrize("changes", STRATEGIES, ids=str)
def test_no_validation_label_enters_a_gradient(graph: Graph, changes: Change) -> None:
    splits, runs = splits_of(graph, 1), [settings_of(**changes)]
    labels = torch.where(splits.val[0], (graph.labels + 1) % 3, graph.labels)
    honest, poisoned = fit(graph, splits, runs), fit(replace(graph, labels=labels), splits, runs)
    for name in ("train_loss", "controller_loss", "mean_step"):
        assert torch.equal(metric(honest, name), metric(poisoned, name))
    assert not torch.equal(metric(honest, "val_loss"), metric(poisoned, "val_loss"))


def test_training_learns_something(graph: Graph) -> None:
    result = fit(graph, splits_of(graph, 1), [settings_of(epochs=60)])
    losses = metric(result, "train_loss")[:, 0]
    assert float(losses[-1]) < 0.8 * float(losses[0])
    assert float(result.test_accuracy) > 60


def test_accuracy_is_the_share_of_hits(stopped: Stopped, graph: Graph) -> None:
    result, splits, _ = stopped
    found = accuracy(result.nodes, graph.labels, splits.test)
    for run in range(splits.runs):
        nodes = splits.test[run].nonzero().squeeze(1).tolist()
        hits = [
            int(result.nodes.probabilities[run, i].argmax()) == int(graph.labels[i]) for i in nodes
        ]
        assert float(found[run]) == pytest.approx(100 * sum(hits) / len(hits), abs=1e-4)


def test_digits_train_too() -> None:
    digits = load_graph("digits")
    splits = make_splits(digits, "digits", "random-60-20-20", 1, 0)
    result = fit(digits, splits, [settings_of(hidden=16, epochs=15)])
    assert float(result.test_accuracy) > 70


@pytest.fixture
def data_root() -> Path:
    folder = os.environ.get("PPRO_DATA")
    if not folder:
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
    return Path(folder)


@pytest.mark.data
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_five_epochs_on_cora(data_root: Path, strategy: str) -> None:
    cora = load_graph("cora", data_root=data_root, offline=True)
    splits = make_splits(cora, "cora", "public", 1, 0, data_root=data_root, offline=True)
    result = fit(cora, splits, [Settings.model_validate({"strategy": strategy, "epochs": 5})])
    assert result.nodes.probabilities.shape == (1, 2708, 7)
    assert bool(torch.isfinite(result.history.metrics).all())
    losses = metric(result, "train_loss")[:, 0]
    assert float(losses[-1]) < float(losses[0])
    assert float(result.test_accuracy) > 20
