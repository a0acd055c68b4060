"""Recipes come from results: the best validation accuracy, whatever the test accuracy is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ppro.paper import choice as choosing
from ppro.paper import design, fresh, rounds_tables, shipped
from ppro.paper.cells import Cell
from ppro.paper.choice import Proposal, choose, recipe_of
from ppro.paper.contest import METHODS
from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.recorded import json_settings
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.store import Store
from ppro.paper.taught import LEAST_STEPS
from ppro.search.offers import DESIGN, Offer
from ppro.settings.recipe import parse_recipe, short_recipe_toml
from ppro.settings.recipes import PAPER_DESIGN, shipped_recipe
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


def test_equal_offers_count_once_all_methods_have_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "l2b", 90.0, 80.0)
    for strategy in ("none", "l2b", "l2u"):
        assert choosing.OFFERED not in choosing.proposals("texas", "l2b", store)
        settings = Settings(strategy=strategy, dropout=0.2)
        result = {"val_mean": 91.0, "test_mean": 80.0, "settings": settings}
        place, method = f"offers/texas/{strategy}", METHODS[strategy]
        keep(store, place, result, method=method, runs=10, configurations=24)
    found = choosing.proposals("texas", "l2b", store)[choosing.OFFERED]
    assert found.candidate.settings == Settings(strategy="l2b", dropout=0.2)
    assert found.configurations == 16 + FINALS.new + PLAYOFFS.new + 24


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


def propose(monkeypatch: pytest.MonkeyPatch, settings: list[Settings]) -> None:
    """Let these be what searches and rounds propose, in their order."""
    proposed = [Proposal(Candidate("l2b", one, 90.0, 6), 16) for one in settings]
    rounds = dict(zip(choosing.ROUNDS, proposed, strict=False))
    for module in (choosing, rounds_tables):
        monkeypatch.setattr(module, "proposals", lambda *_: rounds)


def decide(store: Store, vals: list[float], off: float = 0.0) -> None:
    wanted = choosing.decision("texas-l2b", store)
    assert (wanted.first_seed, wanted.tested) == (choosing.FIRST_SEED, False)
    write_decision(store, wanted, vals, off)


def write_decision(store: Store, wanted: Experiment, vals: list[float], off: float) -> None:
    results = [
        {
            "method": "",
            "settings": json_settings(candidate.settings),
            **{"val_mean": val, "val": [val - 1, val + 1], "val_std": 1.0, "off_common": off},
        }
        for candidate, val in zip(wanted.candidates, vals, strict=True)
    ]
    store.write(wanted.place, {"runs": 50, "settings": {}, "results": results})


def test_seeds_of_their_own_decide_between_proposals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, settings = Store(tmp_path), [Settings(dropout=d) for d in (0.2, 0.3, 0.2)]
    rounds = {
        key: Proposal(Candidate(key, own, 90.0, 6), 16)
        for key, own in zip(("first", "second", "third"), settings, strict=True)
    }
    monkeypatch.setattr(choosing, "proposals", lambda *_: rounds)
    # Settings that were proposed twice train once; what the reported runs say counts no more.
    measure(store, settings[0], 99.0, 99.0)
    decide(store, [80.0, 81.0])
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert choice.candidate.method == "second"
    assert (choice.candidate.validation, choice.candidate.runs) == (81.0, 50)
    decide(store, [82.0, 81.0])
    choice = choose("texas", "l2b", store)
    assert choice is not None
    assert choice.candidate.method == "first"


def test_who_keeps_all_nodes_at_one_step_is_taught_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, plan = Store(tmp_path), Plan(tmp_path)
    own = [Settings(strategy="l2b", max_steps=2, dropout=d) for d in (0.2, 0.3)]
    propose(monkeypatch, own)
    assert choosing.retaught("texas-l2b", store) is None
    decide(store, [80.0, 81.0], off=0.3)
    assert choosing.retaught("texas-l2b", store) is None
    decide(store, [80.0, 81.0])
    assert choosing.retaught("texas-none", store) is None
    again = choosing.retaught("texas-l2b", store, plan)
    assert again is not None
    assert (again.first_seed, again.tested, again.runs) == (choosing.FIRST_SEED, False, 50)
    assert again in choosing.decisions(plan, ["texas-l2b"])
    for candidate in again.candidates:
        assert candidate.settings.controllers.teaching == "compare"
        assert candidate.settings.training.dropout == 0.3
        assert candidate.settings.network.max_steps == LEAST_STEPS
    for vals, best, number in (([80.6] * 4, "compare", 20), ([80.4] * 4, "paper", 20)):
        write_decision(store, again, vals, off=0.3)
        choice = choose("texas", "l2b", store)
        assert choice is not None
        assert choice.candidate.settings.controllers.teaching == best
        assert choice.configurations == number
        row = rounds_tables.decision_markdown(store).splitlines()[-1]
        assert ("**81.0" in row) == (best == "paper")
        assert f"{vals[0]} ± 1.0" in row


def test_priorities_that_may_all_be_equal_make_way_for_some_of_mean_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, plan = Store(tmp_path), Plan(tmp_path)
    own = [Settings(strategy="l2b", weight_form=form) for form in ("tanh", "softplus")]
    propose(monkeypatch, own)
    assert choosing.rescaled("texas-l2b", store) is None
    decide(store, [80.0, 81.0], off=0.3)
    assert choosing.rescaled("texas-l2b", store) is None, "softplus has no cap"
    decide(store, [81.0, 80.0])
    assert choosing.rescaled("texas-l2b", store) is None, "it may still be taught otherwise"
    decide(store, [81.0, 80.0], off=0.3)
    again = choosing.rescaled("texas-l2b", store, plan)
    assert again is not None
    assert again in choosing.decisions(plan, ["texas-l2b"])
    (candidate,) = again.candidates
    assert candidate.settings == own[0].replace(priority_scale="mean", lambda1=1.0)
    for val, scale in ((80.6, "mean"), (79.9, "paper")):
        write_decision(store, again, [val], off=0.0)
        choice = choose("texas", "l2b", store)
        assert choice is not None
        assert choice.candidate.settings.controllers.priority_scale == scale
        assert ("**80.6" in rounds_tables.decision_markdown(store)) == (scale == "mean")


def test_one_proposal_is_decided_about_where_it_can_be_taught_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(tmp_path)
    assert choosing.decisions(plan, ["cornell-l2b"]) == []
    propose(monkeypatch, [Settings()])
    assert choosing.decisions(plan, ["cornell-none"]) == []
    (decision,) = choosing.decisions(plan, ["cornell-l2b"])
    assert decision.place == "decisions/cornell-l2b"
    assert decision in choosing.decisions(plan)


def test_searches_that_came_later_propose_too(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "l2b", 90.0, 80.0)
    later = Cell("texas", "random-60-20-20", "l2b", offer=Offer(DESIGN))
    result = {"val_mean": 91.0, "test_mean": 70.0, "settings": Settings(dropout=0.3)}
    keep(store, later.place, result, method="l2b", runs=10, configurations=24)
    found = choosing.proposals("texas", "l2b", store)
    assert list(found) == ["searches", "later"]
    assert found["later"].configurations == 16 + 24 + FINALS.new + PLAYOFFS.new
    (decision,) = choosing.decisions(Plan(tmp_path), ["texas-l2b"])
    assert [c.settings.training.dropout for c in decision.candidates] == [0.5, 0.3]


@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_recipe_is_what_the_results_say(name: str) -> None:
    recipe = shipped_recipe(name)
    where = recipe.dataset, recipe.settings.strategy, STORE
    if name.endswith(PAPER_DESIGN):
        papers = design.choose(*where)
        assert papers is not None
        assert recipe_of(Proposal(*papers), recipe) == recipe, "run `make recipes`"
        return
    choice = choose(*where)
    assert choice is not None
    assert recipe_of(choice, recipe) == recipe, "run `make recipes`"
