from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ppro.errors import PProError
from ppro.paper import pool
from ppro.paper.cells import Cell, experiments, searches
from ppro.paper.experiment import Plan, Work
from ppro.paper.pool import OutOfTimeError, missing, run_missing
from ppro.paper.store import Store


def plan(root: Path, configurations: int = 0) -> Plan:
    changes = {"epochs": 2}
    return Plan(root, 1, configurations, changes=changes, offline=True, threads=1)


def works(names: tuple[str, ...], todo: Plan, dataset: str = "digits") -> list[Work]:
    cells = [Cell(dataset, "random-60-20-20", method) for method in names]
    return [*searches(cells, todo), *experiments(cells, todo)]


def test_works_side_by_side_leave_their_files(tmp_path: Path) -> None:
    todo, told = plan(tmp_path), list[str]()
    run_missing(lambda: works(("mlp", "sgc"), todo), todo, 2, told.append)
    assert len(told) == 2
    assert missing(works(("mlp", "sgc"), todo), todo.store) == []


def test_an_error_ends_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PPRO_DATA", raising=False)
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    todo = plan(tmp_path)
    with pytest.raises(PProError, match="texas"):
        run_missing(lambda: works(("mlp",), todo, "texas"), todo, 2, print)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_waits_for_its_search_and_for_no_other(tmp_path: Path, jobs: int) -> None:
    todo, told = plan(tmp_path, configurations=1), list[str]()
    names = ("mlp", "sgc")
    run_missing(lambda: works(names, todo, "csbm"), todo, jobs, told.append)
    begun = [line.split(":")[0] for line in told]
    assert len(begun) == 4
    for name in names:
        search, cell = (begun.index(f"{kind}/csbm.random-60-20-20/{name}") for kind in KINDS)
        assert search < cell


KINDS = ("search", "cells")


@dataclass(frozen=True)
class Beat(Work):
    """A work that shows that it is alive, and has no end of its own in a test."""

    def run(self, plan: Plan) -> str:
        for count in range(1200):
            (plan.root / self.place).write_text(str(count))
            time.sleep(0.05)
        return self.place


def beat_twice(root: str) -> None:
    run_missing(lambda: [Beat("a"), Beat("b")], plan(Path(root)), 2, print)


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


def test_what_runs_when_time_is_over_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"

    def once_it_runs(*given: Any, **named: Any) -> Any:
        deadline = time.monotonic() + 120
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        return wait(*given, **named)

    monkeypatch.setattr(pool, "wait", once_it_runs)
    with pytest.raises(OutOfTimeError):
        run_missing(lambda: [Beat("a")], plan(tmp_path), 1, print, until=time.monotonic())
    time.sleep(1)
    before = file.read_text()
    time.sleep(1)
    assert file.read_text() == before


@dataclass(frozen=True)
class Never(Work):
    """A work whose file never says enough."""

    waits: bool = False

    @property
    def is_ready(self) -> bool:
        return not self.waits

    def run(self, plan: Plan) -> str:
        return self.place


def test_nothing_is_run_twice_and_a_place_counts_once(tmp_path: Path) -> None:
    told: list[str] = []
    works = [Never("a"), Never("a"), Never("b"), Never("c", waits=True)]
    assert [work.place for work in missing(works, Store(tmp_path))] == ["a", "b", "c"]
    run_missing(lambda: works, plan(tmp_path), 1, told.append)
    assert told == ["a", "b"]
