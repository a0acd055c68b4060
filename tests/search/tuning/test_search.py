"""A whole search in this process: what it measures, what it leaves, how it goes on."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.data import Splits
from ppro.errors import RunError
from ppro.graph.core import Graph
from ppro.search.batches import Done, train_all
from ppro.search.tuning import evaluation
from ppro.search.tuning.evaluation import ON_CPU, Evaluator, batch_size
from ppro.search.tuning.session import Session
from ppro.settings.limits import SEARCH_SEED
from ppro.settings.recipe import read_recipe
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.trainer import OnEpoch
from tests.search.tuning.support import BATCH, TRIALS, finish, session, states, subject, tried


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Session:
    worker = session(tmp_path_factory.mktemp("search"))
    told = finish(worker)
    assert len(told) == TRIALS / BATCH
    worker.leave()
    return worker


def test_the_value_is_the_mean_validation_accuracy_over_the_seeds(searched: Session) -> None:
    best = searched.study.complete()[0]
    recipe = read_recipe(searched.wishes.out)
    about = searched.subject
    settings = [recipe.settings.replace(seed=SEARCH_SEED + run) for run in range(2)]
    again = fit(about.graph, about.splits, settings, threads=1).val_accuracy
    assert best.user_attrs["accuracies"] == pytest.approx(again.tolist(), abs=1e-4)
    assert best.value == pytest.approx(float(again.mean()), abs=1e-4)


def test_pruned_ones_have_one_seed_and_the_others_all(searched: Session) -> None:
    trials = searched.study.study.get_trials()
    by_state = {
        name: [t for t in trials if t.state.name == name] for name in ("COMPLETE", "PRUNED")
    }
    assert all(len(t.user_attrs["accuracies"]) == 1 for t in by_state["PRUNED"])
    assert by_state["COMPLETE"]
    for trial in by_state["COMPLETE"]:
        assert len(trial.user_attrs["accuracies"]) == 2
        assert trial.value == statistics.fmean(trial.user_attrs["accuracies"])


def test_the_recipe_says_how_it_was_found(searched: Session) -> None:
    recipe = read_recipe(searched.wishes.out)
    assert recipe.settings.seed == 0
    assert recipe.settings.training.epochs == 3
    pruned = states(searched).get("PRUNED", 0)
    for text in (
        f"best of {TRIALS} configurations ({pruned} pruned",
        "'heterophilous'",
        "seeds 1000 to 1001",
        f"validation accuracy {searched.study.complete()[0].value:.2f}",
    ):
        assert text in recipe.note


def test_the_record_holds_everything_tried(searched: Session) -> None:
    record = json.loads((searched.wishes.folder / "search.json").read_text())
    assert record["configurations"] == len(record["tried"]) == TRIALS
    assert record["complete"] + record["pruned"] == TRIALS
    assert record["running"] == 0
    assert record["seeds"] == [1000, 1001]
    assert sum(record["importance"].values()) == pytest.approx(1)
    best = max(record["tried"], key=lambda t: (len(t["validation"]), sum(t["validation"])))
    assert sum(best["validation"]) / 2 == pytest.approx(record["best"]["validation_mean"])
    assert "test" not in json.dumps(record)


def test_the_pictures(searched: Session) -> None:
    for name in ("history.png", "importance.png"):
        assert (searched.wishes.folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_same_command_goes_on(searched: Session) -> None:
    folder = searched.wishes.folder.parent
    again = session(folder, trials=TRIALS)
    assert finish(again) == []
    more = session(folder, trials=TRIALS + 2)
    assert len(finish(more)) == 1
    assert len(set(tried(more))) == len(tried(more)) == TRIALS + 2


def test_no_test_label_is_read() -> None:
    about = subject(runs=1)
    graph, row = about.graph, about.splits
    splits = Splits(row.name, *(m.repeat(2, 1) for m in (row.train, row.val, row.test)))
    other = torch.where(splits.test[0], 1 - graph.labels, graph.labels)
    found = []
    for labels in (graph.labels, other):
        changed = replace(graph, labels=labels)
        worker = Evaluator(changed, splits, Settings(), torch.device("cpu"), 4)
        candidates = [Settings(epochs=5, hidden=8, lr=lr) for lr in (0.01, 0.05)]
        found.append(worker.scores(candidates, range(2)))
        assert not worker._hidden.test.any()
    assert not torch.equal(graph.labels, other)
    assert found[0] == found[1]


def test_no_test_node_is_shown_to_a_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Splits]()

    def shown(graph: Graph, splits: Splits, *rest: Any) -> list[Done]:
        seen.append(splits)
        return train_all(graph, splits, *rest)

    monkeypatch.setattr(evaluation, "train_all", shown)
    worker = session(tmp_path)
    finish(worker)
    assert worker.subject.splits.test.any()
    assert seen
    assert not any(splits.test.any() for splits in seen)


def test_an_interrupted_search_keeps_its_trials(tmp_path: Path) -> None:
    @contextmanager
    def pressed() -> Iterator[OnEpoch]:
        def on_epoch(done: int, metrics: Tensor, going: int) -> None:
            raise KeyboardInterrupt

        yield on_epoch

    worker, told = session(tmp_path), list[str]()
    assert not worker.run(told.append, pressed)
    assert told == [f"{BATCH} trials under way: queued again"]
    assert states(worker)["FAIL"] == BATCH
    assert "RUNNING" not in states(worker)
    recipe, facts, _ = worker.leave()
    assert recipe is None
    assert facts["configurations"] == 0
    after = session(tmp_path)
    finish(after)
    assert len(set(tried(after))) == TRIALS


def test_no_batch_begins_after_the_timeout(tmp_path: Path) -> None:
    assert finish(session(tmp_path, timeout=0.0)) == []
    assert len(finish(session(tmp_path, timeout=0.05, trials=600))) <= 2


def test_a_lost_storage_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    worker = session(tmp_path)

    def lost(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("gone\nhttp://secret"))

    monkeypatch.setattr(worker.study, "claim", lost)
    with pytest.raises(RunError, match=r"lost during the search .*gone\); the same command"):
        worker.run(lambda line: None, lambda: None)  # type: ignore[arg-type, return-value]


def test_the_size_of_a_batch_follows_the_graph() -> None:
    graph = subject().graph
    cpu = torch.device("cpu")
    assert batch_size(graph, Settings(), cpu) == ON_CPU
    assert batch_size(graph, Settings(hidden=65_536, max_steps=1000), cpu) == 1
