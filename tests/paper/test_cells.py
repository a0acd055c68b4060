"""Searches and cells of tables and figures on small generated graphs, through their files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ppro.data import kind_of
from ppro.errors import RunError
from ppro.paper.cells import Cell, experiments, searches
from ppro.paper.experiment import Experiment, Keep, Plan, Work
from ppro.paper.nodes import DRAWABLE, read_arrays, write_arrays
from ppro.paper.pool import missing, run_missing
from ppro.paper.recorded import json_settings
from ppro.search.methods import find_method
from ppro.search.offers import BACKBONES, Offer
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.figures.support import arrays
from tests.paper.support import keep

SPLIT = "random-60-20-20"
CELLS = [Cell("digits", SPLIT, method) for method in ("mlp", "l2b")]
KINDS: tuple[Keep, ...] = ("accuracies", "curves", "nodes")
KEPT = [Cell("csbm", SPLIT, "l2b", {"epsilon": 0.3}, kind) for kind in KINDS]


def plan(root: Path, epochs: int = 3, **changes: object) -> Plan:
    values = {"runs": 2, "configurations": 0, "threads": 1, **changes}
    return Plan(root, changes={"epochs": epochs}, **values)  # type: ignore[arg-type]


def works(todo: Plan) -> list[Experiment]:
    return [
        *searches(CELLS, todo),
        *experiments(CELLS, todo),
        *experiments(KEPT, todo, without_search=True),
    ]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    todo = plan(tmp_path_factory.mktemp("results"))
    told: list[str] = []
    run_missing(lambda: works(todo), todo, 1, told.append)
    assert len(told) == len(CELLS) + len(KEPT)
    return todo


def places(todo: Plan) -> set[str]:
    return {work.place for work in missing(works(todo), todo.store)}


def test_what_is_done_is_not_done_again(finished: Plan) -> None:
    assert places(finished) == set()
    everything = {cell.place for cell in (*CELLS, *KEPT)}
    assert places(replace(finished, runs=3)) == everything
    assert places(plan(finished.root, epochs=4)) == everything


def test_with_a_search_to_come_a_cell_waits(finished: Plan, tmp_path: Path) -> None:
    searched = plan(tmp_path, configurations=2)
    found = missing(works(searched), searched.store)
    ready = {work.place for work in found if work.is_ready}
    assert ready == {*(cell.searched for cell in CELLS), *(cell.place for cell in KEPT)}


def test_a_cell_is_enough_to_judge_it(finished: Plan) -> None:
    result = finished.store.one("cells/digits.random-60-20-20/l2b")
    assert result is not None
    assert (result["first_seed"], result["runs"]) == (0, 2)
    assert len(result["test"]) == len(result["val"]) == 2
    assert result["settings"]["epochs"] == 3
    assert result["split"] == SPLIT
    first = find_method("l2b").candidates(kind_of("digits"), 1)[0]
    assert Settings.read(result["settings"]) == first.replace(epochs=3)


def test_a_search_keeps_every_configuration_and_no_test_accuracy(tmp_path: Path) -> None:
    todo = plan(tmp_path, configurations=2)
    cell = Cell("csbm", SPLIT, "mlp")
    # The runs of a search are not shortened: a tiny graph and two configurations are quick enough.
    (search,) = searches([cell, cell], todo)
    assert not search.tested
    search.run(todo)
    record = todo.store.read("search/csbm.random-60-20-20/mlp")
    assert record is not None
    assert record["configurations"] == len(record["results"]) == 2
    assert (record["runs"], record["first_seed"]) == (5, 1000)
    assert "test" not in json.dumps(record)
    best = max(record["results"], key=lambda one: one["val_mean"])
    (chosen,) = experiments([cell], todo)
    assert chosen.candidates[0].settings == Settings.read(best["settings"]).replace(epochs=3)
    assert chosen.facts["configurations"] == 2
    assert chosen.facts["search_validation"] == best["val_mean"]
    # More configurations than were tried are another search.
    assert search.is_done(todo.store)
    (more,) = searches([cell], replace(todo, configurations=3))
    assert not more.is_done(todo.store)


def test_a_search_under_an_offer_has_a_part_for_each_program(tmp_path: Path) -> None:
    todo = plan(tmp_path, configurations=8)
    cell = Cell("csbm", SPLIT, "gcn-scores-l2b", offer=Offer(BACKBONES))
    parts = searches([cell], todo)
    programs = [{repr(c.settings.program()) for c in part.candidates} for part in parts]
    assert all(len(one) == 1 for one in programs)
    assert len(set.union(*programs)) == len(parts) > 2
    assert sum(len(part.candidates) for part in parts) == 8
    (waiting,) = experiments([cell], todo)
    assert not waiting.is_ready
    for i, part in enumerate(parts):
        assert part.place.startswith("search/backbones/csbm.random-60-20-20/gcn-scores-l2b/")
        results = [
            {"method": "", "settings": json_settings(c.settings), "val_mean": 10.0 * i + j}
            for j, c in enumerate(part.candidates)
        ]
        todo.store.write(part.place, {"runs": 5, "settings": {}, "results": results})
        assert part.is_done(todo.store)
    (chosen,) = experiments([cell], todo)
    best = parts[-1].candidates[-1].settings
    assert chosen.candidates[0].settings == best.replace(epochs=3)
    assert chosen.facts["configurations"] == 8
    assert chosen.facts["offered"] == cell.offer.size(find_method(cell.method), kind_of("csbm"))
    assert chosen.place == "cells/backbones/csbm.random-60-20-20/gcn-scores-l2b"
    # More configurations are another search, and the cell waits for it.
    (again,) = experiments([cell], replace(todo, configurations=16))
    assert not again.is_ready


def test_processes_give_the_same(finished: Plan, tmp_path: Path) -> None:
    todo = plan(tmp_path)
    wanted = works(todo)[:3]
    run_missing(lambda: wanted, todo, 2, lambda line: None)
    for work in wanted:
        one, two = (p.store.one(work.place) for p in (finished, todo))
        assert one is not None
        assert two is not None
        assert one["test"] == two["test"]


def test_accuracies_lie_where_tables_look_for_them(finished: Plan) -> None:
    record = finished.store.one("cells/csbm.random-60-20-20/l2b@epsilon=0.3")
    assert record is not None
    assert record["settings"]["epsilon"] == 0.3
    assert len(record["test"]) == 2


def test_curves_have_every_epoch_of_every_run(finished: Plan) -> None:
    record = finished.store.one(KEPT[1].place)
    assert record is not None
    assert np.shape(record["curves"]) == (2, 3)
    assert 0 <= np.min(record["curves"]) <= np.max(record["curves"]) <= 100


def test_nodes_have_steps_priorities_and_their_place(finished: Plan) -> None:
    found = read_arrays(finished.store.path(KEPT[2].place))
    nodes = found["degree"].size
    assert found["steps"].shape == found["priorities"].shape == (2, nodes)
    assert ("edges" in found) == (nodes <= DRAWABLE)
    assert found["homophily"].shape == (nodes,)


def test_without_its_arrays_a_record_is_told(finished: Plan) -> None:
    with pytest.raises(RunError, match=r"remove l2b.json beside it to run it again"):
        read_arrays(finished.root / "nodes" / "l2b.json")


def test_a_search_is_preferred_to_the_recipe(tmp_path: Path) -> None:
    todo, cell = Plan(tmp_path), KEPT[0]

    def settings() -> Settings:
        (found,) = experiments([cell], todo, without_search=True)
        return found.candidates[0].settings

    assert settings() == shipped_recipe("csbm-l2b").settings.replace(epsilon=0.3)
    keep(todo.store, cell.searched, {"val_mean": 1.0, "settings": {"strategy": "l2b"}})
    assert settings() == Settings(epsilon=0.3)


def test_the_largest_come_first(tmp_path: Path) -> None:
    cells = [Cell(dataset, "public", "gcn") for dataset in ("cora", "pubmed")]
    found: list[Work] = [*searches(cells, Plan(tmp_path))]
    assert [work.dataset for work in found] == ["pubmed", "cora"]


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
