"""The measurement of ranks against one process: what it finds, and how it notices a failure."""

from __future__ import annotations

import json
import mmap
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ppro.cli import bench_distributed as command
from ppro.data.large import read_large
from ppro.errors import PProError
from ppro.paper.bench.distributed import consecutive, trained
from ppro.paper.bench.rank_worker import EVERY, Memory, Task
from ppro.settings.settings import Settings

OPTIONS = {"nodes": 600.0, "classes": 4.0, "features": 16.0, "degree": 6.0}
SETTINGS = {"strategy": "l2b", "form": "class", "epochs": 3, "max_steps": 4}
TASK = Task("csbm", SETTINGS, 2, OPTIONS)


def test_the_command_compares_two_ranks_with_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One small training of its list, and one job started by torchrun."""
    asked: list[Any] = []

    def one_task(*arguments: Any) -> list[tuple[str, Task]]:
        asked.append(arguments)
        return [("csbm", TASK)]

    monkeypatch.setattr(command, "_tasks", one_task)
    out = tmp_path / "report.json"
    command.distributed(nodes=0, ranks=[2], epochs=3, times=1, graphs=tmp_path, out=out)
    assert asked == [(["csbm"], 0, 3, tmp_path)]
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["machine"]
    assert report["consecutive"]["failures"] == []
    one, two = report["trainings"]
    assert (one["ranks"], two["ranks"]) == (1, 2)
    assert one["nodes"] == two["nodes"] == 600
    assert max(two["apart"].values()) < 1e-5
    assert two["epochs_within"]["1e-05"] == 3
    assert two["same_steps"] == two["same_predictions"] == 1
    assert 1 <= two["measured_to_model"] < 1.1
    assert two["model_bytes"] == 4 * 4 * 2 * sum(two["ghosts"])
    # Of each of 3 epochs: θ forward and back, φ, validation; then all nodes are described.
    assert 3 * 4 < two["exchanges"] <= 3 * 4 * 4 + 4
    assert len(two["memory_mib"]) == 2
    assert "2 ranks" in command.line(two)
    assert "apart" not in command.line(one)
    told = capsys.readouterr()
    assert "1 jobs of two ranks, one after the other: 0 failed" in told.err
    assert f"written to {out}" in told.out.replace("\n", "")


def test_what_the_command_compares(tmp_path: Path) -> None:
    small = command._tasks(["csbm", "digits"], 0, 7, tmp_path)
    assert [name for name, _ in small] == ["csbm"] * 3 + ["digits"] * 3
    assert {task.settings["strategy"] for _, task in small} == {"l2b", "l2u", "none"}
    assert all(task.settings["epochs"] == 7 for _, task in small)
    assert small[0][1].options == command.SMALL
    assert small[3][1].options == {}
    *_, (name, generated) = command._tasks(["csbm"], 2500, 7, tmp_path)
    assert name == "generated"
    graph, masks = read_large(Path(generated.graph))
    assert graph.num_nodes == 2500
    assert masks is not None
    assert Settings(**generated.settings).controllers.epsilon == 1
    # A second time it is there already.
    made = Path(generated.graph).stat().st_mtime_ns
    *_, (_, again) = command._tasks(["csbm"], 2500, 7, tmp_path)
    assert Path(again.graph).stat().st_mtime_ns == made


def test_a_rank_that_fails_is_told() -> None:
    with pytest.raises(PProError, match="on 1 ranks failed"):
        trained(Task("nothing", {}), 1)


def test_the_memory_of_a_block_is_its_peak() -> None:
    memory, size = Memory(), 64 * 2**20
    with memory.watched():
        # Straight from the system: what was allocated and freed before must not serve it.
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as kept:
            for page in range(0, size, mmap.PAGESIZE):
                kept[page] = 1
            time.sleep(10 * EVERY)
        time.sleep(2 * EVERY)
    assert 60 < memory.mib < 80


def test_a_job_that_ends_badly_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([(0, True), (-6, True), (0, False)])

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        status, whole = next(ends)
        folder = Path(words[-1])
        if whole:
            folder.mkdir()
            (folder / "result.json").touch()
        return subprocess.CompletedProcess(words, status, "", "the end")

    monkeypatch.setattr(subprocess, "run", run)
    found = consecutive(3, ["train", "csbm"])
    assert [failure["run"] for failure in found["failures"]] == [1, 2]
    assert found["failures"][0] == {"run": 1, "status": -6, "end": "the end"}
