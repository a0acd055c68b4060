from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppro.errors import PProError
from ppro.paper.cells import Cell
from ppro.paper.pool import run_all, run_tasks
from ppro.paper.tasks import Plan, missing_cells, missing_searches, missing_tasks


def plan(root: Path) -> Plan:
    return Plan(root, runs=1, configurations=0, changes={"epochs": 2}, offline=True, threads=1)


def test_tasks_side_by_side_leave_their_files(tmp_path: Path) -> None:
    cells = [Cell("digits", "random-60-20-20", method) for method in ("mlp", "sgc")]
    todo, told = plan(tmp_path), list[str]()
    run_tasks(missing_searches(cells, todo), todo, 1, told.append)
    run_tasks(missing_cells(cells, todo), todo, 2, told.append)
    assert len(told) == 4
    assert missing_cells(cells, plan(tmp_path)) == []


def test_an_error_ends_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PPRO_DATA", raising=False)
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    cells = [Cell("texas", "random-60-20-20", "mlp")]
    with pytest.raises(PProError, match="texas"):
        run_tasks(missing_cells(cells, plan(tmp_path)), plan(tmp_path), 2, print)


def test_a_cell_waits_for_its_search_and_for_no_other(tmp_path: Path) -> None:
    cells = [Cell("digits", "random-60-20-20", method) for method in ("mlp", "sgc", "gcn")]
    todo, told = plan(tmp_path), list[str]()
    run_tasks(missing_tasks(cells, todo), todo, 2, told.append)
    assert len(told) == 6
    for method in ("mlp", "sgc", "gcn"):
        search, cell = (
            next(
                i
                for i, line in enumerate(told)
                if line.startswith(f"{kind} digits") and method in line
            )
            for kind in ("search", "cell")
        )
        assert search < cell


def beat(name: str, plan: Plan) -> str:
    """A work that shows that it is alive, and has no end of its own in a test."""
    for count in range(1200):
        (plan.root / name).write_text(str(count))
        time.sleep(0.05)
    return name


def beat_twice(root: str) -> None:
    run_all(beat, ["a", "b"], plan(Path(root)), 2, print)


def test_no_worker_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = f"from tests.paper.test_pool import beat_twice; beat_twice({str(tmp_path)!r})"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment)
    files = [tmp_path / name for name in ("a", "b")]
    try:
        deadline = time.monotonic() + 120
        while not all(file.exists() for file in files) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert all(file.exists() for file in files)
    finally:
        parent.kill()
        parent.wait()
    time.sleep(2)
    before = [file.read_text() for file in files]
    time.sleep(1)
    assert [file.read_text() for file in files] == before
