from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from ppro.data import load_graph, make_splits
from ppro.errors import RunError
from ppro.insight.tracking import Tracker, finish, listener
from ppro.insight.tracking.base import Facts, means, rows
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.stopping import MEASURED, History
from tests.insight.tracking.support import facts, history


class Watcher:
    def __init__(self, fails: bool = False) -> None:
        self.epochs: list[int] = []
        self.fails, self.finished = fails, False

    def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
        self.epochs.append(epoch)
        if self.fails:
            raise RunError("the server is gone")

    def finish(self, history: History, facts: Facts, folder: Path) -> None:
        if self.fails:
            raise RunError("the server is gone")
        self.finished = True

    def close(self) -> None: ...


def test_means_leave_out_what_has_stopped() -> None:
    found = means(history().metrics[2])
    assert found["train_loss"] == pytest.approx(4 * len(MEASURED) / 8)
    assert means(torch.full((len(MEASURED), 2), torch.nan)) == {}


def test_rows_are_the_epochs_that_were_trained() -> None:
    found = list(rows(history()))
    assert [(run, epoch) for run, epoch, _ in found] == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]
    assert found[3][2]["train_loss"] == pytest.approx(1 / 8)


def test_what_an_epoch_did_not_measure_is_left_out() -> None:
    seen = history()
    seen.metrics[0, MEASURED.index("val_loss")] = torch.nan
    _, _, values = next(rows(seen))
    assert set(values) == {*MEASURED} - {"val_loss"}


def test_a_training_is_heard_and_a_failing_tracker_is_left_out() -> None:
    graph = load_graph("csbm", options={"nodes": 60})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    good, bad, told, seen = Watcher(), Watcher(fails=True), list[str](), list[int]()
    trackers: list[Tracker] = [bad, good]
    listen = listener(trackers, told.append, lambda epoch, *_: seen.append(epoch))
    fit(graph, splits, [Settings(epochs=3)], on_epoch=listen)
    assert good.epochs == seen == [1, 2, 3]
    assert bad.epochs == [1]
    assert told == ["the server is gone (training goes on without it)"]
    assert trackers == [good]


def test_a_tracker_that_fails_at_the_end_is_told(tmp_path: Path) -> None:
    good, bad, told = Watcher(), Watcher(fails=True), list[str]()
    finish([bad, good], told.append, history(), facts(), tmp_path)
    assert good.finished
    assert told == [f"the server is gone (the run itself is saved in {tmp_path})"]


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError(), RuntimeError("a\nb")])
def test_any_error_of_a_tracker_is_one_line(error: Exception, tmp_path: Path) -> None:
    class Broken(Watcher):
        def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
            raise error

        def finish(self, history: History, facts: Facts, folder: Path) -> None:
            raise error

    told: list[str] = []
    listener([Broken()], told.append)(1, history().metrics[0], 1)
    finish([Broken()], told.append, history(), facts(), tmp_path)
    assert [line.count("\n") for line in told] == [0, 0]
    assert all(line.startswith(f"Broken: {type(error).__name__}: ") for line in told)
