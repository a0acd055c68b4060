from __future__ import annotations

import io
import time

import pytest
import torch
from rich.console import Console
from torch import Tensor

from ppro.cli import console
from ppro.training.stopping import MEASURED


def measured(accuracies: list[float]) -> Tensor:
    metrics = torch.zeros(len(MEASURED), len(accuracies))
    metrics[MEASURED.index("val_accuracy")] = torch.tensor(accuracies)
    return metrics


def test_a_terminal_shows_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=shown, force_terminal=True, width=100))
    with console.training_progress(20) as progress:
        progress(7, measured([0.5, 0.75]), 1)
    assert "epoch 7 1/2 runs, val 62.5 %" in shown.getvalue()


def test_elsewhere_a_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(console, "PLAIN_EVERY", 10.0)
    with console.training_progress(20) as progress:
        for epoch in range(1, 26):
            now += 1
            # A run that has stopped measures nothing any more.
            progress(epoch, measured([0.5, float("nan")]), 1)
    told = capsys.readouterr().err.splitlines()
    assert told == ["epoch 10: 1/2 runs, val 50.0 %", "epoch 20: 1/2 runs, val 50.0 %"]


def test_tasks_tell_how_long_the_rest_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with console.task_progress("3 cells to do", 3) as tell:
        for name in ("a", "b", "c", "what c brought up"):
            now += 120
            tell(name)
    assert capsys.readouterr().err.splitlines() == [
        "3 cells to do",
        "[1/3] a, about 4 min left",
        "[2/3] b, about 2 min left",
        "[3/3] c, about 0 min left",
        "[4/4] what c brought up, about 0 min left",
    ]


def test_the_last_validation_stays_until_the_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now, nothing = 100.0, [float("nan")]
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(console, "PLAIN_EVERY", 10.0)
    with console.training_progress(40) as progress:
        for epoch in range(1, 31):
            now += 1
            progress(epoch, measured([epoch / 100] if epoch in (15, 25) else nothing), 1)
    assert capsys.readouterr().err.splitlines() == [
        "epoch 10: 1/1 runs",
        "epoch 20: 1/1 runs, val 15.0 %",
        "epoch 30: 1/1 runs, val 25.0 %",
    ]
