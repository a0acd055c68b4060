"""Recipes come from results: the best validation accuracy, whatever the test accuracy is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ppro.paper import choice as choosing
from ppro.paper import fresh, shipped
from ppro.paper.cells import Cell
from ppro.paper.choice import Proposal, choose, recipe_of
from ppro.paper.experiment import Candidate, Plan
from ppro.paper.store import Store
from ppro.settings.recipe import parse_recipe, short_recipe_toml
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.support import keep

RESULTS = Path(__file__).parents[2] / "results"


STORE = Store(RESULTS)


def put(store: Store, method: str, val: float, test: float, **changes: Any) -> None:
    cell = Cell("texas", "random-60-20-20", method, changes)
    settings = Settings(strategy="l2b", epsilon=val / 100).replace(**changes)
    result = {"val_mean": val, "test_mean": test, "settings": settings}
    keep(store, cell.place, result, method=method, runs=10, configurations=16)


def test_validation_decides(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert choose("texas", "l2b", store) is None
    put(store, "l2b", 90.0, 80.0)
    put(store, "l2b-wide", 89.0, 99.0)
    put(store, "l2u", 95.0, 99.0)
    put(store, "l2b", 99.0, 99.0, selection="loss")
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert (choice.candidate.method, choice.configurations) == ("l2b", 32)
    put(store, "l2b", 91.0, 70.0, use_progress=True)
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert choice.candidate.settings.controllers.use_progress


def measure(store: Store, settings: Settings, val: float, test: float, runs: int = 50) -> None:
    place = fresh.of_recipe("texas-l2b", settings, Plan(store.root)).place
    keep(store, place, {"val_mean": val, "test_mean": test, "settings": settings}, runs=runs)


def test_fresh_runs_decide_between_the_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, settings = Store(tmp_path), [Settings(dropout=d) for d in (0.2, 0.3, 0.4)]
    rounds = {
        key: Proposal(Candidate(key, own, 90.0 + i, 6), 16 + i)
        for i, (key, own) in enumerate(zip(("first", "second", "third"), settings, strict=True))
    }
    monkeypatch.setattr(choosing, "proposals", lambda *_: rounds)
    choice = choose("texas", "l2b", store)
    assert choice == rounds["third"]
    measure(store, settings[1], 88.0, 80.0)
    measure(store, settings[0], 87.0, 99.0)
    measure(store, settings[2], 95.0, 99.0, runs=10)
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert choice.candidate.method == "second"
    assert (choice.candidate.validation, choice.candidate.runs) == (88.0, 50)
    assert choice.configurations == 18
    measure(store, settings[0], 88.0, 70.0)
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert choice.candidate.method == "first"
    assert len(fresh.all_of("texas-l2b", store)) == 3


def test_the_recipe_keeps_what_the_paper_prints(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "l2b", 90.0, 80.0, use_progress=True)
    choice, known = choose("texas", "l2b", store), shipped_recipe("texas-l2b")
    assert choice is not None
    made = recipe_of(choice, known)
    assert made.paper == known.paper
    assert made.settings.controllers.use_progress
    assert made.found is not None
    assert made.found.validation == 90.0
    assert parse_recipe(short_recipe_toml(made), "made") == made


@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_recipe_is_what_the_results_say(name: str) -> None:
    recipe = shipped_recipe(name)
    choice = choose(recipe.dataset, recipe.settings.strategy, STORE)
    assert choice is not None
    assert recipe_of(choice, recipe) == recipe, "run `make recipes`"
