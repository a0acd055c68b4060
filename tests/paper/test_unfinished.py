"""A stop in the middle of an experiment loses the batch that trains, and no run before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.unfinished import FOLDER, Unfinished
from ppro.search import batches
from ppro.search.batches import Done
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

TINY = Settings(hidden=4, controller_units=4, max_steps=2, epochs=3)
TWO_PROGRAMS = (Candidate("l2b", TINY), Candidate("l2b, deeper", TINY.replace(max_steps=3)))


def made(**changes: Any) -> Experiment:
    values = {"place": "here/it", "dataset": "csbm", "split": "random-60-20-20"}
    return Experiment(**{**values, "candidates": TWO_PROGRAMS, "runs": 2, **changes})


class StoppedError(Exception):
    pass


def stop_after(monkeypatch: pytest.MonkeyPatch, wanted: int) -> list[int]:
    """Let a number of batches train, and no further one; returns the depths of all that begin."""
    begun: list[int] = []

    def some(graph: Any, splits: Any, settings: Sequence[Settings], **rest: Any) -> Fit:
        if len(begun) == wanted:
            raise StoppedError
        begun.append(settings[0].network.max_steps)
        return fit(graph, splits, settings, **rest)

    monkeypatch.setattr(batches, "fit", some)
    return begun


def tried(
    root: Path, monkeypatch: pytest.MonkeyPatch, wanted: int = 9, **changes: Any
) -> list[int]:
    begun = stop_after(monkeypatch, wanted)
    with suppress(StoppedError):
        made(**changes).run(Plan(root, threads=1))
    return begun


def without_times(record: dict[str, Any] | None) -> dict[str, Any]:
    assert record is not None
    return {key: value for key, value in record.items() if key != "seconds"}


@pytest.mark.parametrize("keep", ["accuracies", "curves", "nodes"])
def test_what_was_done_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    (first,) = tried(tmp_path, monkeypatch, 1, keep=keep)
    assert len(list((tmp_path / FOLDER / "here.it").iterdir())) == 1
    (second,) = tried(tmp_path, monkeypatch, keep=keep)
    assert {first, second} == {2, 3}
    assert not (tmp_path / FOLDER).exists()
    whole = tmp_path / "whole"
    tried(whole, monkeypatch, keep=keep)
    found, wanted = (Plan(root).store.read("here/it") for root in (tmp_path, whole))
    assert without_times(found) == without_times(wanted)


@pytest.mark.parametrize(
    "changes", [{"first_seed": 1}, {"split": "5-per-class"}, {"graph_seed": 1}, {"tested": False}]
)
def test_runs_of_another_experiment_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    tried(tmp_path, monkeypatch, 1)
    assert len(tried(tmp_path, monkeypatch, **changes)) == 2


def damaged(paths: Iterable[Path]) -> None:
    for path in paths:
        path.write_bytes(path.read_bytes()[:40])


def test_a_damaged_file_costs_its_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried(tmp_path, monkeypatch, 1)
    damaged((tmp_path / FOLDER).rglob("*.safetensors"))
    assert len(tried(tmp_path, monkeypatch)) == 2


def test_a_run_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Done] = []

    def kept_of(runs: Sequence[Done], **rest: Any) -> dict[str, Any]:
        seen.extend(runs)
        return {"test_mean": 0.0, "test_std": 0.0}

    monkeypatch.setattr("ppro.paper.experiment.kept_of", kept_of)
    monkeypatch.setattr(Unfinished, "clear", lambda self: None)
    tried(tmp_path, monkeypatch)
    assert tried(tmp_path, monkeypatch) == []
    assert len(seen) == 8
    for one, other in zip(seen[:4], seen[4:], strict=True):
        assert one == other
        for name in ("steps", "priorities", "curve"):
            torch.testing.assert_close(getattr(one, name), getattr(other, name), rtol=0, atol=0)
