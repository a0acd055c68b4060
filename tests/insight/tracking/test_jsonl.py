from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppro.errors import RunError
from ppro.insight.tracking import JsonLines
from tests.insight.tracking.support import history


def test_a_line_can_be_read_as_soon_as_its_epoch_is_over(tmp_path: Path) -> None:
    path = tmp_path / "new" / "live.jsonl"
    tracker = JsonLines(path)
    tracker.on_epoch(1, history().metrics[0], 2)
    line = json.loads(path.read_text())
    assert (line["epoch"], line["runs"]) == (1, 2)
    assert line["train_loss"] == pytest.approx(0.5 / 8)
    tracker.on_epoch(3, history().metrics[2], 1)
    tracker.close()
    assert len(path.read_text().splitlines()) == 2


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="choose another file"):
        JsonLines(tmp_path / "file" / "live.jsonl")
