from __future__ import annotations

import _thread
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from ppro.training.stopping import MEASURED

RUNS = 3


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 120, "classes": 3, "features": 16, "degree": 4})


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", RUNS, 0)


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def runs_of(**changes: Any) -> list[Settings]:
    base = {"hidden": 8, "controller_units": 8, "max_steps": 3, "feature_norm": "none"}
    rates = (0.002, 0.05, 0.1)
    return [
        Settings.model_validate({**base, "seed": seed, "lr": lr, **changes})
        for seed, lr in enumerate(rates)
    ]


def near(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3, equal_nan=True)


def assert_near(a: Fit, b: Fit) -> None:
    assert torch.equal(a.history.epochs, b.history.epochs)
    assert torch.equal(a.history.best_epoch, b.history.best_epoch)
    near(a.history.metrics, b.history.metrics)
    near(a.nodes.probabilities, b.nodes.probabilities)
    assert torch.equal(a.nodes.steps, b.nodes.steps)
    for p, q in zip(a.model.parameters(), b.model.parameters(), strict=True):
        near(p.detach(), q.detach())


@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
@pytest.mark.parametrize("cores", [2, 4])
def test_runs_side_by_side_equal_runs_in_one_program(
    graph: Graph, splits: Splits, strategy: str, cores: int
) -> None:
    runs = runs_of(strategy=strategy, epochs=25, patience=4)
    one, many = fit(graph, splits, runs, threads=1), fit(graph, splits, runs, threads=cores)
    assert len(set(one.history.epochs.tolist())) > 1
    assert_near(one, many)


def test_the_same_seed_gives_the_same_bits_side_by_side(graph: Graph, splits: Splits) -> None:
    first, second = (fit(graph, splits, runs_of(epochs=8), threads=2) for _ in range(2))
    assert torch.equal(first.nodes.probabilities, second.nodes.probabilities)
    assert torch.equal(first.history.metrics, second.history.metrics)


def test_epochs_are_reported_in_order_for_all_runs(graph: Graph, splits: Splits) -> None:
    seen: list[int] = []

    def listen(epoch: int, metrics: Tensor, going: int) -> None:
        assert metrics.shape == (len(MEASURED), RUNS)
        assert 0 <= going <= RUNS
        seen.append(epoch)

    fit(graph, splits, runs_of(epochs=6), threads=2, on_epoch=listen)
    assert seen == sorted(set(seen))
    assert seen[-1] == 6


ENDLESS = 600


def check_cut_short(result: Fit) -> None:
    assert result.history.interrupted
    assert int(result.history.epochs.max()) < ENDLESS
    accuracies = result.history.metrics[:, MEASURED.index("val_accuracy")]
    for run in range(RUNS):
        best = float(accuracies[int(result.history.best_epoch[run]), run])
        assert float(result.val_accuracy[run]) == pytest.approx(100 * best, abs=1e-4)


def test_ctrl_c_ends_all_workers_in_their_best_states(graph: Graph, splits: Splits) -> None:
    def interrupt(epoch: int, metrics: Tensor, going: int) -> None:
        if epoch == 3:
            _thread.interrupt_main()

    runs = runs_of(epochs=ENDLESS, patience=ENDLESS)
    check_cut_short(fit(graph, splits, runs, threads=2, on_epoch=interrupt))


def test_an_interrupt_in_the_callback_ends_all_workers(graph: Graph, splits: Splits) -> None:
    def interrupt(epoch: int, metrics: Tensor, going: int) -> None:
        if epoch == 3:
            raise KeyboardInterrupt

    runs = runs_of(epochs=ENDLESS, patience=ENDLESS)
    check_cut_short(fit(graph, splits, runs, threads=2, on_epoch=interrupt))


def test_an_error_in_the_callback_is_raised(graph: Graph, splits: Splits) -> None:
    def fail(epoch: int, metrics: Tensor, going: int) -> None:
        if epoch == 3:
            raise ValueError("from the callback")

    runs = runs_of(epochs=ENDLESS, patience=ENDLESS)
    with pytest.raises(ValueError, match="from the callback"):
        fit(graph, splits, runs, threads=2, on_epoch=fail)
