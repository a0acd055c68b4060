"""An experiment: what its file keeps, when it is done, and what it never looks at."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.data import Splits
from ppro.errors import RunError
from ppro.paper import experiment as experiments
from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.store import Store
from ppro.search.batches import train_all
from ppro.settings.settings import Settings

SPLIT = "random-60-20-20"
TINY = Settings(hidden=4, controller_units=4, max_steps=2, epochs=3)
TWO = (Candidate("l2b", TINY), Candidate("l2b, varied", TINY.replace(lr=0.05)))


def made(**changes: Any) -> Experiment:
    values = {"place": "here/it", "dataset": "csbm", "split": SPLIT, "candidates": TWO, "runs": 2}
    return Experiment(**{**values, **changes})


def plan(root: Path) -> Plan:
    return Plan(root, threads=1)


def test_settings_that_all_share_are_written_once(tmp_path: Path) -> None:
    todo = plan(tmp_path)
    told = made(first_seed=7, facts={"recipe": "csbm-l2b"}).run(todo)
    assert told.startswith("here/it: ")
    written = json.loads((tmp_path / "here/it.json").read_text())
    assert [one["settings"] for one in written["results"]] == [{"lr": 0.01}, {"lr": 0.05}]
    assert "lr" not in written["settings"]
    assert (written["recipe"], written["first_seed"], written["runs"]) == ("csbm-l2b", 7, 2)
    record = todo.store.read("here/it")
    assert record is not None
    read = [Settings.read(one["settings"]) for one in record["results"]]
    assert read == [candidate.settings for candidate in TWO]
    for one in record["results"]:
        assert len(one["test"]) == len(one["val"]) == len(one["epochs"]) == 2
        assert one["val_mean"] == pytest.approx(sum(one["val"]) / 2)


def test_an_array_takes_one_line(tmp_path: Path) -> None:
    made().run(plan(tmp_path))
    lines = (tmp_path / "here/it.json").read_text().splitlines()
    assert sum(line.strip().startswith('"test": [') for line in lines) == 2
    assert all(line.rstrip(",").endswith("]") for line in lines if '"test": [' in line)


def test_it_is_done_when_the_file_has_the_settings_and_the_runs(tmp_path: Path) -> None:
    todo = plan(tmp_path)
    assert not made().is_done(todo.store)
    made().run(todo)
    assert made().is_done(todo.store)
    assert made(runs=1).is_done(todo.store)
    assert made(candidates=TWO[:1]).is_done(todo.store)
    assert not made(runs=3).is_done(todo.store)
    assert not made(candidates=TWO[::-1]).is_done(todo.store)
    assert not made(candidates=()).is_done(todo.store)
    longer = tuple(replace(c, settings=c.settings.replace(epochs=9)) for c in TWO)
    assert not made(candidates=longer).is_done(todo.store)
    # What was made with --quick is shown, and not taken for the real one.
    assert made(candidates=longer).record(todo.store) is not None
    assert made(candidates=TWO[::-1]).record(todo.store) is None


def test_of_runs_that_compete_only_those_of_a_new_candidate_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = list[int]()

    def counted(graph: Any, splits: Splits, jobs: Any, *rest: Any, **more: Any) -> Any:
        trained.append(len(jobs))
        return train_all(graph, splits, jobs, *rest, **more)

    todo, more = plan(tmp_path), Candidate("l2u", TINY.replace(strategy="l2u"))
    monkeypatch.setattr(experiments, "train_all", counted)
    made(tested=False).run(todo)
    before = todo.store.read("here/it")
    made(tested=False, candidates=(TWO[0], more, TWO[1])).run(todo)
    after = todo.store.read("here/it")
    assert trained == [4, 2]
    assert before is not None
    assert after is not None
    assert [after["results"][i] for i in (0, 2)] == before["results"]
    assert after["seconds"] > before["seconds"]
    # Other seeds or splits, or test nodes, are another experiment.
    made(tested=False, first_seed=9).run(todo)
    made(first_seed=9).run(todo)
    made(first_seed=9).run(todo)
    assert trained[2:] == [4, 4, 4]


def test_test_nodes_are_hidden_from_what_is_not_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Splits]()

    def shown(graph: Any, splits: Splits, *rest: Any, **more: Any) -> Any:
        seen.append(splits)
        return train_all(graph, splits, *rest, **more)

    monkeypatch.setattr(experiments, "train_all", shown)
    told = made(tested=False).run(plan(tmp_path))
    assert "best validation" in told
    assert not seen[0].test.any()
    assert seen[0].val.any()
    assert "test" not in (tmp_path / "here/it.json").read_text()
    made().run(plan(tmp_path))
    assert seen[1].test.any()


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(RunError, match="remove it to run it again"):
        store.read("bad")
    (tmp_path / "old.json").write_text('{"format": 1}')
    with pytest.raises(RunError, match="not a result of this version"):
        store.read("old")
    assert store.read("none") is None
    assert store.one("none") is None


def test_what_follows_from_results_is_worked_out_again_after_a_change(tmp_path: Path) -> None:
    store, made = Store(tmp_path), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    assert [store.once("key", make), store.once("key", make)] == [1, 1]
    store.write("a", {})
    assert store.once("key", make) == 2
