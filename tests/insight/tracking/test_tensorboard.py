from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ppro.errors import RunError
from ppro.insight.tracking import TensorBoard
from ppro.training.stopping import MEASURED
from tests.insight.tracking.support import facts, history


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events: Any = EventAccumulator(str(folder))
    events.Reload()
    names = events.Tags()["scalars"]
    return {name: [(e.step, e.value) for e in events.Scalars(name)] for name in names}


def test_means_while_training_and_every_run_at_the_end(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    tracker = TensorBoard(tmp_path)
    tracker.on_epoch(1, history().metrics[0], 2)
    tracker.finish(history(), facts(), tmp_path)
    tracker.close()
    mean = scalars(tmp_path / "mean")
    assert mean["train_loss"] == [(1, 0.0625)]
    assert mean["result/test_mean"] == [(0, 1.5)]
    stopped = scalars(tmp_path / "run-1")
    assert set(stopped) == set(MEASURED)
    assert stopped["train_loss"] == [(1, 0.125), (2, (2 * len(MEASURED) + 1) / 8)]


def test_without_tensorboard_the_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(RunError, match=r"pip install 'ppro\[tracking\]'"):
        TensorBoard(tmp_path)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="choose another folder"):
        TensorBoard(tmp_path / "file")
