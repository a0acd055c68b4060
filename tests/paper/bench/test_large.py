"""Training on generated graphs, measured in processes of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from ppro.cli import bench_large as command
from ppro.data.large import generate_large
from ppro.errors import DataError, PProError, RunError
from ppro.paper.bench import large as measuring
from ppro.paper.bench.large import LargeCase, ensure_graph, graph_folder, measure_large, trained

CASE = LargeCase(300, 6.0, 3, 4, "l2b", 2)


def test_a_training_in_a_process_of_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    row = measure_large(tmp_path, CASE)
    assert {"nodes": 300, "method": "l2b", "epochs": 2, "max_steps": 10}.items() <= row.items()
    assert 0 < row["epoch_s"] < 10
    assert 2**27 < row["peak_bytes"] < row["estimate_bytes"] < 2**30
    assert 0 < row["test_accuracy"] <= 100
    assert "l2b, 300 nodes: epoch 2 of 2, val" in capfd.readouterr().err


def test_both_methods_train_alike_on_the_same_graph(tmp_path: Path) -> None:
    mlp = replace(CASE, method="mlp")
    folder = graph_folder(tmp_path, CASE.plan)
    assert folder == graph_folder(tmp_path, mlp.plan)
    folder.mkdir()
    generate_large(folder, CASE.plan)
    rows = [trained(ensure_graph(tmp_path, case.plan), case) for case in (CASE, mlp)]
    assert rows[0]["edges"] == rows[1]["edges"]
    assert rows[0]["lr"] == rows[1]["lr"]
    assert (rows[0]["mean_step"] > 0, rows[1]["mean_step"]) == (True, 0)
    assert mlp.settings().model == "mlp"
    assert CASE.settings().flat()["form"] == "class"


def test_another_graph_in_the_place_of_one_is_refused(tmp_path: Path) -> None:
    folder = graph_folder(tmp_path, CASE.plan)
    folder.mkdir()
    generate_large(folder, replace(CASE.plan, seed=1))
    with pytest.raises(DataError, match="another graph than the one to measure"):
        ensure_graph(tmp_path, CASE.plan)


def test_a_child_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "ensure_graph", lambda root, plan: root / "nothing")
    with pytest.raises(PProError, match=r"training on .*nothing failed; the lines above say why"):
        measure_large(tmp_path, CASE)


def row_of(case: LargeCase) -> dict[str, Any]:
    sizes = {"nodes": case.nodes, "degree": case.degree, "classes": case.classes}
    told = {"edges": 10 * case.nodes, "epoch_s": 1.0, "peak_bytes": 2**30, "estimate_bytes": 2**30}
    more = {"features": case.features, "method": case.method, "epochs": case.epochs}
    return {**sizes, **more, **told, "test_accuracy": 50.0}


def test_what_was_measured_is_kept_and_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def measured(root: Path, case: LargeCase) -> dict[str, Any]:
        if (case.nodes, case.method) == (20_000, "mlp") and len(done) < 4:
            done.append("stopped")
            raise KeyboardInterrupt
        done.append(f"{case.nodes} {case.method}")
        return row_of(case)

    monkeypatch.setattr(measuring, "measure_large", measured)
    out = tmp_path / "large.json"
    with pytest.raises(typer.Exit):
        command.large([20_000, 10_000], graphs=tmp_path, out=out)
    assert len(json.loads(out.read_text())["trainings"]) == 3
    assert "keeps what was measured" in capsys.readouterr().err
    command.large([20_000, 10_000], graphs=tmp_path, out=out)
    assert done == ["10000 l2b", "10000 mlp", "20000 l2b", "stopped", "20000 mlp"]
    assert "1.00 s an epoch (5000 ns an edge), peak 1.00 GiB" in capsys.readouterr().out
    command.large([10_000], epochs=3, graphs=tmp_path, out=out)
    assert done[-2:] == ["10000 l2b", "10000 mlp"]


def test_a_report_of_another_machine_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "large.json"
    out.write_text(json.dumps({"machine": {"name": "another"}, "trainings": []}))
    with pytest.raises(RunError, match="measured on another machine"):
        command.large([1000], out=out)
    out.write_text("[]")
    with pytest.raises(RunError, match="no report of large graphs"):
        command.large([1000], out=out)
    with pytest.raises(DataError, match="nodes for"):
        command.large([50], out=tmp_path / "new.json")
