"""Searches and cells on a small generated graph, through their files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppro.errors import RunError
from ppro.paper.cells import Cell
from ppro.paper.pool import run_tasks
from ppro.paper.tasks import Plan, Task, do, missing_cells, missing_searches

CELLS = [Cell("digits", "random-60-20-20", method) for method in ("mlp", "l2b")]
FAST = {"epochs": 3}


def plan(root: Path, **changes: object) -> Plan:
    values = {"runs": 2, "configurations": 2, "changes": FAST, "threads": 1, **changes}
    return Plan(root, **values)  # type: ignore[arg-type]


def finish(todo: Plan) -> list[str]:
    told: list[str] = []
    for find in (missing_searches, missing_cells):
        run_tasks(find(CELLS, todo), todo, 1, told.append)
    return told


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    todo = plan(tmp_path_factory.mktemp("results"), configurations=0)
    finish(todo)
    return todo


def test_what_is_done_is_not_done_again(finished: Plan) -> None:
    assert missing_searches(CELLS, finished) == []
    assert missing_cells(CELLS, finished) == []
    assert finish(finished) == []


def test_a_cell_is_enough_to_judge_it(finished: Plan) -> None:
    path = finished.store.cell_path("digits", "random-60-20-20", "l2b")
    result = json.loads(path.read_text())
    assert result["seeds"] == [0, 1]
    assert len(result["test"]) == len(result["val"]) == 2
    assert result["settings"]["epochs"] == 3
    assert result["split"] == "random-60-20-20"


def test_more_runs_or_other_settings_are_missing(finished: Plan) -> None:
    more = plan(finished.root, configurations=0, runs=3)
    assert [task.cell.method for task in missing_cells(CELLS, more)] == ["mlp", "l2b"]
    other = plan(finished.root, configurations=0, changes={"epochs": 4})
    assert len(missing_cells(CELLS, other)) == 2
    searched = plan(finished.root)
    assert len(missing_searches(CELLS, searched)) == 2


def test_a_search_keeps_every_configuration_and_no_test_accuracy(tmp_path: Path) -> None:
    todo = plan(tmp_path, configurations=2)
    cell = Cell("csbm", "random-60-20-20", "mlp")
    # The runs of a search are not shortened: a tiny graph and two configurations are quick enough.
    do(Task("search", cell), todo)
    record = json.loads(todo.store.search_path("csbm", "random-60-20-20", "mlp").read_text())
    assert record["configurations"] == len(record["tried"]) == 2
    assert record["runs"] == 5
    best = max(entry["validation_mean"] for entry in record["tried"])
    assert record["tried"][record["chosen"]]["validation_mean"] == best
    assert "test" not in json.dumps(record)


def test_processes_give_the_same(finished: Plan, tmp_path: Path) -> None:
    todo = plan(tmp_path, configurations=0)
    told: list[str] = []
    run_tasks(missing_searches(CELLS, todo), todo, 2, told.append)
    run_tasks(missing_cells(CELLS, todo), todo, 2, told.append)
    assert len(told) == 4
    for cell in CELLS:
        key = cell.dataset, cell.split, cell.method
        one, two = (p.store.read(p.store.cell_path(*key)) for p in (finished, todo))
        assert one is not None
        assert two is not None
        assert one["test"] == two["test"]


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    todo = plan(tmp_path)
    path = todo.store.cell_path("digits", "random-60-20-20", "mlp")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(RunError, match="remove it to run it again"):
        missing_cells(CELLS, todo)
