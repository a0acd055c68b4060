"""Runs for figures on a small generated graph, through their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.errors import RunError
from ppro.paper.cells import Cell
from ppro.paper.figures.nodes import DRAWABLE, read_arrays, write_arrays
from ppro.paper.figures.work import Kind, Work, chosen, missing, run_works
from ppro.paper.tasks import Plan
from ppro.settings.recipes import shipped_recipe
from tests.paper.figures.support import arrays

SPLIT = "random-60-20-20"
KINDS: tuple[Kind, ...] = ("cells", "curves", "nodes")
WORKS = [Work(kind, Cell("csbm", SPLIT, "l2b", {"epsilon": 0.3})) for kind in KINDS]


def plan(root: Path, runs: int = 2, epochs: int = 3) -> Plan:
    return Plan(root, runs=runs, configurations=0, changes={"epochs": epochs})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    todo = plan(tmp_path_factory.mktemp("results"))
    told: list[str] = []
    run_works(missing(WORKS, todo), todo, 1, told.append)
    assert len(told) == len(WORKS)
    return todo


def test_what_is_done_is_not_done_again(finished: Plan) -> None:
    assert missing(WORKS, finished) == []
    assert missing(WORKS, plan(finished.root, runs=3)) == WORKS
    assert missing(WORKS, plan(finished.root, epochs=4)) == WORKS


def test_accuracies_lie_where_tables_look_for_them(finished: Plan) -> None:
    path = finished.store.cell_path("csbm", SPLIT, "l2b", "epsilon=0.3")
    record = finished.store.read(path)
    assert record is not None
    assert record["settings"]["epsilon"] == 0.3
    assert len(record["test"]) == 2


def test_curves_have_every_epoch_of_every_run(finished: Plan) -> None:
    record = WORKS[1].read(finished.store)
    assert record is not None
    assert np.shape(record["val_accuracy"]) == (2, 3)
    assert 0 <= np.min(record["val_accuracy"]) <= np.max(record["val_accuracy"]) <= 100


def test_nodes_have_steps_priorities_and_their_place(finished: Plan) -> None:
    found = read_arrays(WORKS[2].path(finished.store))
    nodes = found["degree"].size
    assert found["steps"].shape == found["priorities"].shape == (2, nodes)
    assert ("edges" in found) == (nodes <= DRAWABLE)
    assert found["homophily"].shape == (nodes,)


def test_without_its_arrays_a_record_is_told(finished: Plan) -> None:
    with pytest.raises(RunError, match=r"remove l2b.json beside it to run it again"):
        read_arrays(finished.root / "nodes" / "l2b.json")


def test_processes_give_the_same(finished: Plan, tmp_path: Path) -> None:
    todo = plan(tmp_path)
    run_works(missing(WORKS[:2], todo), todo, 2, lambda line: None)
    for work in WORKS[:2]:
        one, two = work.read(finished.store), work.read(todo.store)
        assert one is not None
        assert two is not None
        assert one["test"] == two["test"]


def test_a_search_is_preferred_to_the_recipe(tmp_path: Path) -> None:
    store, cell = plan(tmp_path).store, WORKS[0].cell
    recipe = shipped_recipe("csbm-l2b").settings
    assert chosen(cell, store)["settings"] == recipe.model_dump(exclude_none=True)
    assert chosen(cell, store)["configurations"] == 0
    searched = {"settings": {"model": "ppro", "strategy": "l2b"}, "configurations": 16}
    store.write(store.search_path("csbm", SPLIT, "l2b"), searched)
    assert chosen(cell, store)["settings"] == searched["settings"]


def test_priorities_keep_their_order_in_a_file(tmp_path: Path) -> None:
    made = arrays()
    made["priorities"][1] = 1.5
    write_arrays(tmp_path / "l2b.json", made)
    found = read_arrays(tmp_path / "l2b.json")
    assert set(found) == set(made)
    np.testing.assert_allclose(found["priorities"], made["priorities"], atol=2e-5)
    assert np.array_equal(found["priorities"][0].argsort(), made["priorities"][0].argsort())
    np.testing.assert_array_equal(found["steps"], made["steps"])


def test_damaged_arrays_are_told(tmp_path: Path) -> None:
    (tmp_path / "l2b.npz").write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(RunError, match="run it again"):
        read_arrays(tmp_path / "l2b.json")
