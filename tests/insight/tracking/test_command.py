"""Tracking through ``ppro train``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ppro.cli import main

TRAIN = ("csbm", "--option", "nodes=60", "--runs", "2", "--set", "epochs=4", "--out", "run")


def train(monkeypatch: pytest.MonkeyPatch, place: Path, *words: str) -> int:
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["ppro", "train", *TRAIN, *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_a_live_file_and_tensorboard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    words = ("--live", "live.jsonl", "--tensorboard", "board")
    assert train(monkeypatch, tmp_path, *words) == 0
    lines = [json.loads(line) for line in (tmp_path / "live.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert {path.name for path in (tmp_path / "board").iterdir()} == {"mean", "run-0", "run-1"}
    assert (tmp_path / "run" / "metrics.jsonl").is_file()


def test_without_mlflow_nothing_is_trained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert train(monkeypatch, tmp_path, "--mlflow", "http://there") == 2
    assert "pip install 'ppro[mlflow]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
