import json
from pathlib import Path
from typing import Any

import pytest

from ppro.bench import Case
from ppro.cli import bench as command
from ppro.errors import SettingsError


def test_an_unknown_graph_names_those_there_are() -> None:
    with pytest.raises(
        SettingsError, match="--only corra: no case with this graph; there are cora"
    ):
        command.bench(quick=True, only="corra", device="cpu")


def test_what_was_measured_is_kept_when_it_is_cut_short(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def two_cases(quick: bool, gpu: bool) -> list[Case]:
        return [Case("digits", "class", depth, "none") for depth in (2, 3)]

    def measured_once(case: Case, *rest: Any) -> dict[str, Any]:
        if case.max_steps == 3:
            raise KeyboardInterrupt
        times = {"ours_ms": 1.0, "peer_ms": 2.0, "ratio": 0.5}
        return {
            "graph": "digits",
            "form": "class",
            "max_steps": 2,
            "strategy": "none",
            "runs": 1,
        } | times

    monkeypatch.setattr(command, "cases", two_cases)
    monkeypatch.setattr(command, "measure", measured_once)
    with pytest.raises(KeyboardInterrupt):
        command.bench(quick=True, device="cpu", out=tmp_path / "b.json")
    kept = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert [row["max_steps"] for row in kept["epochs"]] == [2]
