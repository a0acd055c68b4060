"""The rounds: who competes, that each is run once, and when its winner counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.paper import finals, fresh, playoffs, rounds_table, shipped
from ppro.paper.contest import STRATEGIES, Contest, Entry, contest
from ppro.paper.finals import FINALS
from ppro.paper.playoffs import PLAYOFFS
from ppro.paper.proposals import proposals
from ppro.paper.recipe_choice import choose
from ppro.paper.store import Store
from ppro.paper.tasks import Plan
from ppro.settings.settings import Settings, parse_settings

SPLIT = "random-60-20-20"


def entry(validation: float, **changes: Any) -> Entry:
    return Entry("l2b", Settings(strategy="l2b", **changes), validation, 10)


def test_candidates_differ_in_more_than_patience() -> None:
    entries = (
        entry(90.0, dropout=0.3, patience=200),
        entry(89.0, dropout=0.3),
        entry(88.0, dropout=0.4),
    )
    others = (entry(95.0, dropout=0.3), entry(94.0, dropout=0.6), entry(93.0, dropout=0.7))
    found = finals.candidates(Contest(entries, others, 32))
    settings = [e.settings for e in found]
    assert settings[:2] == [entries[0].settings, entries[2].settings]
    assert [s.training.dropout for s in settings[2:4]] == [0.6, 0.7]
    assert all(s.training.patience == 200 for s in settings[2:])
    assert len(settings) == len({repr(s) for s in settings}) == 4 + finals.VARIATIONS
    assert finals.candidates(Contest((), (), 0)) == []


def test_the_backbone_has_as_many_candidates_where_less_was_measured_of_it() -> None:
    others = tuple(entry(50.0, dropout=i / 20) for i in range(1, 19))
    few = finals.candidates(Contest((entry(60.0, dropout=0.01),), others, 16))
    assert len(few) == finals.FINALISTS + finals.OTHERS + finals.VARIATIONS


def put(store: Store, strategy: str, val: float) -> None:
    """A search of two configurations and its ten runs."""
    method = {"none": "appnp-none"}.get(strategy, strategy)
    cell = {"dataset": "texas", "split": SPLIT, "method": method, "runs": 10, "configurations": 2}
    tried = [{"dropout": 0.3, "validation_mean": 80.0}, {"dropout": 0.4, "validation_mean": 70.0}]
    store.write(store.search_path("texas", SPLIT, method), {**cell, "runs": 5, "tried": tried})
    chosen = parse_settings({"strategy": strategy, "dropout": 0.3}, "here")
    settings = chosen.model_dump(exclude_none=True)
    result = {**cell, "val_mean": val, "test_mean": 0.0, "settings": settings}
    store.write(store.cell_path("texas", SPLIT, method), result)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Searches of Texas are done, and all else is short."""
    made = Plan(tmp_path, runs=2, configurations=2, changes={"epochs": 3}, threads=1)
    for strategy in STRATEGIES:
        put(made.store, strategy, 90.0)
    return made


NAMES = [f"texas-{strategy}" for strategy in STRATEGIES]
SHORT = replace(FINALS, runs_of_random=2)


@pytest.mark.data
def test_it_is_run_once_and_counts_when_it_is_whole(plan: Plan) -> None:
    assert FINALS.missing(NAMES, replace(plan, root=plan.root / "none")) == []
    assert "Not run yet" in FINALS.markdown(plan.store)
    assert FINALS.missing(NAMES, replace(plan, configurations=0)) == []
    told: list[str] = []
    SHORT.run(["texas-l2b"], plan, 1, told.append)
    assert told[0].startswith("finals texas-l2b: best validation ")
    assert FINALS.missing(NAMES, plan) == ["texas-none", "texas-l2u"]
    before = choose("texas", "l2b", plan.store)
    assert before is not None
    assert before.entry.runs == 10

    SHORT.run(FINALS.missing(NAMES, plan), plan, 1, told.append)
    after = choose("texas", "l2b", plan.store)
    assert after is not None
    assert after.entry.runs == 2
    assert after.configurations == 2 + finals.VARIATIONS
    record = plan.store.read(FINALS.path_of("texas-l2b", plan.store))
    assert record is not None
    assert after.entry.validation == max(t["validation_mean"] for t in record["tried"])
    assert record["first_seed"] == FINALS.first_seed
    assert "test" not in repr(record["tried"])
    assert "| Texas | random-60-20-20 | l2b | 8 | 2 |" in FINALS.markdown(plan.store)

    put(plan.store, "l2b", 95.0)
    changed = plan.store.cell_path("texas", SPLIT, "l2b")
    result = plan.store.read(changed)
    assert result is not None
    plan.store.write(changed, {**result, "settings": {**result["settings"], "dropout": 0.55}})
    assert FINALS.missing(NAMES, plan) == ["texas-l2b"]
    again = choose("texas", "l2b", plan.store)
    assert again is not None
    assert again.entry.settings.training.dropout == 0.55


def rounds_row(store: Store) -> str:
    rows = rounds_table.markdown(store).splitlines()
    return next(row for row in rows if row.startswith("| Texas | l2b | "))


@pytest.mark.data
def test_the_play_off_follows_the_last_round(plan: Plan) -> None:
    SHORT.run(NAMES[:2], plan, 1, lambda _: None)
    assert PLAYOFFS.missing(NAMES, plan) == []
    SHORT.run(NAMES[2:], plan, 1, lambda _: None)
    assert sorted(PLAYOFFS.missing(NAMES, plan)) == sorted(NAMES)
    for name in NAMES:
        found = playoffs.candidates(name, plan.store)
        ranked = FINALS.ranking(name, plan.store)
        assert found[: playoffs.OWN] == ranked[: playoffs.OWN]
        assert len(found) == playoffs.OWN + playoffs.EXCHANGED
        assert len({repr(e.settings.replace(patience=1)) for e in found}) == len(found)
        assert {e.settings.strategy for e in found} == {name.rpartition("-")[2]}
    replace(PLAYOFFS, runs_of_random=3).run(NAMES, plan, 1, lambda _: None)
    assert PLAYOFFS.missing(NAMES, plan) == []
    chosen = proposals("texas", "l2b", plan.store)
    assert list(chosen) == ["searches", "finals", "playoffs"]
    assert [c.entry.runs for c in chosen.values()] == [10, 2, 3]
    assert chosen["playoffs"].configurations == 2 + finals.VARIATIONS + playoffs.EXCHANGED
    assert "| Texas | random-60-20-20 | l2b | 6 | 3 |" in PLAYOFFS.markdown(plan.store)

    wanted = {repr(choice.entry.settings) for choice in chosen.values()}
    trials = shipped.missing(["texas-l2b"], plan)
    assert wanted <= {repr(trial.settings) for trial in trials}
    assert "Not measured yet" in rounds_table.markdown(plan.store)
    shipped.run_recipes([t for t in trials if repr(t.settings) in wanted], plan, 1, lambda _: None)
    for choice in chosen.values():
        record = fresh.measured("texas-l2b", choice.entry.settings, plan.store)
        assert record is not None
        pair = f" {record['val_mean']:.2f} / {record['test_mean']:.2f} "
        assert pair in rounds_row(plan.store)


def test_an_exchange_keeps_the_controllers_and_takes_the_backbone() -> None:
    own = entry(90.0, epsilon=0.9, dropout=0.3, propagation_bias=0.0)
    other = Entry("l2u+c", Settings(strategy="l2u", epsilon=0.1, dropout=0.7, lr=0.05), 91.0, 6)
    found = playoffs.exchanged(own, other)
    assert found.method == "l2b, backbone of l2u+c"
    wanted = own.settings.replace(dropout=0.7, lr=0.05)
    assert found.settings == wanted
    alone = Entry("appnp-none", Settings(strategy="none"), 80.0, 6)
    bare = playoffs.exchanged(alone, other).settings
    assert (bare.strategy, bare.training.dropout, bare.controllers.epsilon) == ("none", 0.7, 0.5)


def test_what_a_search_tried_has_the_settings_of_its_method(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "l2u", 90.0)
    found = contest("texas", "l2u", store)
    assert [e.settings.training.dropout for e in found.others] == [0.3, 0.4]
    assert all(e.settings.strategy == "l2u" and e.runs == 5 for e in found.others)
    assert found.configurations == 2
