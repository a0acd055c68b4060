import json
from pathlib import Path
from typing import Any

import pytest

from ppro.cli import bench as command
from ppro.errors import RunError, SettingsError
from ppro.paper import bench as benches
from ppro.paper.bench import Case
from tests.cli.conftest import Command


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

    monkeypatch.setattr(benches, "cases", two_cases)
    monkeypatch.setattr(benches, "measure", measured_once)
    with pytest.raises(KeyboardInterrupt):
        command.bench(quick=True, device="cpu", out=tmp_path / "b.json")
    kept = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert [row["max_steps"] for row in kept["epochs"]] == [2]


def row_of(case: Case) -> dict[str, Any]:
    sizes = {"graph": case.graph, "form": case.form, "max_steps": case.max_steps, "runs": 1}
    return {**sizes, "strategy": case.strategy, "ours_ms": 1.0, "peer_ms": 2.0, "ratio": 0.5}


def test_everything_is_measured_shown_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benches, "cases", lambda *args: [Case("digits", "class", 2, "none")])
    monkeypatch.setattr(benches, "measure", lambda case, *rest: row_of(case))
    monkeypatch.setattr(
        "ppro.paper.bench.memory.peak_of_step", lambda case, device: 10.0 * case.max_steps
    )
    out = tmp_path / "new" / "b.json"
    command.bench(device="cpu", out=out)
    kept = json.loads(out.read_text(encoding="utf-8"))
    assert kept["memory_mib"] == {"4": 40.0, "16": 160.0, "64": 640.0}
    assert kept["machine"]["device"] == "cpu"
    printed = capsys.readouterr()
    assert "digits class L=2 none x1: 1.00 ms, PyG 2.00 ms, ratio 0.500" in printed.err
    lines = printed.out.splitlines()
    assert lines[0].split()[:3] == ["graph", "form", "L"]
    assert "L=4: 40.0 MiB, L=16: 160.0 MiB, L=64: 640.0 MiB" in lines[-2]
    assert lines[-1] == f"written to {out}"


def test_one_graph_alone_says_nothing_of_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benches, "cases", lambda *args: [Case("digits", "class", 2, "none")])
    monkeypatch.setattr(benches, "measure", lambda case, *rest: row_of(case))
    command.bench(only="digits", device="cpu")
    assert "MiB" not in capsys.readouterr().out


def test_judges_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def measured(case: Case, *rest: Any) -> dict[str, Any]:
        judges = {} if case.judges is None else {"judges": case.judges}
        return {**row_of(case), **judges, "ratio": 0.6 if case.judges == "folds" else 0.4}

    monkeypatch.setattr(benches, "measure", measured)
    command.bench(judges=True, device="cpu")
    told = capsys.readouterr().out
    assert "l2b, judges folds" in told
    assert "an epoch, judges folds / judges train, cora, hidden, l2b: 1.50" in told
    assert "MiB" not in told


def test_a_place_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(benches, "cases", lambda *args: [Case("digits", "class", 2, "none")])
    monkeypatch.setattr(benches, "measure", lambda case, *rest: row_of(case))
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"b\.json: cannot be written"):
        command.bench(quick=True, device="cpu", out=tmp_path / "file" / "b.json")
    monkeypatch.setattr("ppro.paper.bench.render.read_reports", lambda folder: {})
    monkeypatch.setattr("ppro.paper.bench.render.draw", lambda reports, chart: chart.touch())
    with pytest.raises(RunError, match=r"p\.md: cannot be written"):
        command.bench(render=tmp_path / "file" / "p.md")


def test_a_page_is_rendered_from_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ppro.paper.bench.render.read_reports", lambda folder: {str(folder): {}})
    monkeypatch.setattr("ppro.paper.bench.render.draw", lambda reports, chart: chart.touch())
    monkeypatch.setattr(
        "ppro.paper.bench.render.page", lambda reports, chart: f"{list(reports)} {chart}"
    )
    command.bench(render=tmp_path / "p.md")
    assert (tmp_path / "p.md").read_text() == f"{[str(Path('results/bench'))]} p.png"
    assert (tmp_path / "p.png").exists()
    assert "p.md and p.png beside it" in capsys.readouterr().out


def test_bench_without_a_name_measures_speed(ppro: Command, workplace: Path) -> None:
    for words in (("--only", "corra"), ("speed", "--only", "corra")):
        assert "--only corra: no case with this graph" in ppro("bench", *words).error
    assert "large.json: missing; run 'ppro bench large'" in ppro("bench", "scale").error
    assert "50 nodes for 10 classes" in ppro("bench", "large", "--nodes", "50").error
    shown = ppro("bench", "--help").out
    assert all(name in shown for name in ("speed", "large", "scale"))
    assert not list(workplace.iterdir())
