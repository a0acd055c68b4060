"""The rounds: who competes, that each is run once, and when its winner counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.paper import experiment, fresh, rounds, rounds_tables, shipped
from ppro.paper.cells import Cell
from ppro.paper.choice import choose, proposals
from ppro.paper.contest import STRATEGIES, Contest, contest
from ppro.paper.experiment import Candidate, Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.rounds import FINALS, PLAYOFFS, Round
from ppro.paper.store import Store
from ppro.search.batches import Done, train_all
from ppro.settings.settings import Settings
from tests.paper.support import keep

SPLIT = "random-60-20-20"


def entry(validation: float, **changes: Any) -> Candidate:
    return Candidate("l2b", Settings(strategy="l2b", **changes), validation, 10)


def test_candidates_differ_in_more_than_patience() -> None:
    entries = (
        entry(90.0, dropout=0.3, patience=200),
        entry(89.0, dropout=0.3),
        entry(88.0, dropout=0.4),
    )
    others = (entry(95.0, dropout=0.3), entry(94.0, dropout=0.6), entry(93.0, dropout=0.7))
    found = rounds.finalists(Contest(entries, others, 32))
    settings = [e.settings for e in found]
    assert settings[:2] == [entries[0].settings, entries[2].settings]
    assert [s.training.dropout for s in settings[2:4]] == [0.6, 0.7]
    assert all(s.training.patience == 200 for s in settings[2:])
    assert len(settings) == len({repr(s) for s in settings}) == 4 + rounds.VARIATIONS
    assert rounds.finalists(Contest((), (), 0)) == []


def test_the_backbone_has_as_many_candidates_where_less_was_measured_of_it() -> None:
    others = tuple(entry(50.0, dropout=i / 20) for i in range(1, 19))
    few = rounds.finalists(Contest((entry(60.0, dropout=0.01),), others, 16))
    assert len(few) == rounds.FINALISTS + rounds.OTHERS + rounds.VARIATIONS


def put(store: Store, strategy: str, val: float) -> None:
    """A search of two configurations and its ten runs."""
    method = {"none": "appnp-none"}.get(strategy, strategy)
    cell = Cell("texas", SPLIT, method)
    tried = [
        {"method": method, "settings": {"dropout": dropout}, "val_mean": reached}
        for dropout, reached in ((0.3, 80.0), (0.4, 70.0))
    ]
    store.write(cell.searched, {"runs": 5, "settings": {"strategy": strategy}, "results": tried})
    settings = Settings(strategy=strategy, dropout=0.3)
    result = {"val_mean": val, "test_mean": 0.0, "settings": settings}
    keep(store, cell.place, result, method=method, runs=10, configurations=2)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Searches of Texas are done, and all else is short."""
    made = Plan(tmp_path, runs=2, configurations=2, changes={"epochs": 3}, threads=1)
    for strategy in STRATEGIES:
        put(made.store, strategy, 90.0)
    return made


NAMES = [f"texas-{strategy}" for strategy in STRATEGIES]
SHORT = replace(FINALS, runs_of_random=2)


def todo(round_: Round, plan: Plan) -> list[str]:
    """The recipes whose round can begin and has not been run."""
    works = missing(round_.experiments(plan, NAMES), plan.store)
    return [work.place.partition("/")[2] for work in works if work.is_ready]


def run(round_: Round, names: list[str], plan: Plan) -> list[str]:
    told: list[str] = []
    run_missing(lambda: round_.experiments(plan, names), plan, 1, told.append)
    return told


def test_no_round_sees_a_test_node(plan: Plan) -> None:
    for round_ in (FINALS, PLAYOFFS):
        assert not any(e.tested for e in round_.experiments(plan, NAMES))


@pytest.mark.data
def test_no_training_of_a_round_is_shown_a_test_node(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Splits]()

    def shown(graph: Graph, splits: Splits, *rest: Any, **named: Any) -> list[Done]:
        seen.append(splits)
        return train_all(graph, splits, *rest, **named)

    monkeypatch.setattr(experiment, "train_all", shown)
    short = replace(PLAYOFFS, runs_of_random=2, candidates=FINALS.candidates)
    for round_ in (SHORT, short):
        run(round_, ["texas-l2b"], plan)
    assert len(seen) == 2
    assert all(splits.val.any() and not splits.test.any() for splits in seen)


@pytest.mark.data
def test_it_is_run_once_and_counts_when_it_is_whole(plan: Plan) -> None:
    assert todo(SHORT, replace(plan, root=plan.root / "none")) == []
    assert "Not measured yet" in rounds_tables.round_markdown(FINALS, plan.store)
    assert todo(SHORT, replace(plan, configurations=0)) == []
    told = run(SHORT, ["texas-l2b"], plan)
    assert told[0].startswith("finals/texas-l2b: best validation ")
    assert todo(SHORT, plan) == ["texas-none", "texas-l2u"]
    before = choose("texas", "l2b", plan.store)
    assert before is not None
    assert before.candidate.runs == 10

    run(SHORT, NAMES, plan)
    after = choose("texas", "l2b", plan.store)
    assert after is not None
    assert after.candidate.runs == 2
    assert after.configurations == 2 + rounds.VARIATIONS
    record = plan.store.read("finals/texas-l2b")
    assert record is not None
    assert after.candidate.validation == max(one["val_mean"] for one in record["results"])
    assert after.candidate.settings.training.epochs == 1000
    assert record["first_seed"] == FINALS.first_seed
    assert "test" not in repr(record["results"])
    row = "| Texas | random-60-20-20 | l2b | 8 | 2 |"
    assert row in rounds_tables.round_markdown(FINALS, plan.store)

    put(plan.store, "l2b", 95.0)
    settings = Settings(strategy="l2b", dropout=0.55)
    result = {"val_mean": 95.0, "test_mean": 0.0, "settings": settings}
    place = Cell("texas", SPLIT, "l2b").place
    keep(plan.store, place, result, method="l2b", runs=10, configurations=2)
    assert todo(SHORT, plan) == ["texas-l2b"]
    again = choose("texas", "l2b", plan.store)
    assert again is not None
    assert again.candidate.settings.training.dropout == 0.55


def rounds_row(store: Store) -> str:
    rows = rounds_tables.markdown(store).splitlines()
    return next(row for row in rows if row.startswith("| Texas | l2b | "))


def _short(settings: Settings) -> Settings:
    return settings.replace(epochs=3)


@pytest.mark.data
def test_the_play_off_follows_the_last_round(plan: Plan) -> None:
    playoffs = replace(PLAYOFFS, runs_of_random=3)
    run(SHORT, NAMES[:2], plan)
    assert todo(playoffs, plan) == []
    run(SHORT, NAMES[2:], plan)
    assert sorted(todo(playoffs, plan)) == sorted(NAMES)
    for name in NAMES:
        found = rounds.of_playoff(name, plan.store)
        ranked = FINALS.ranking(name, plan.store)
        assert found[: rounds.OWN] == ranked[: rounds.OWN]
        assert len(found) == rounds.OWN + rounds.EXCHANGED
        assert len({repr(e.settings.replace(patience=1)) for e in found}) == len(found)
        assert {e.settings.strategy for e in found} == {name.rpartition("-")[2]}
    run(playoffs, NAMES, plan)
    assert todo(playoffs, plan) == []
    chosen = proposals("texas", "l2b", plan.store)
    assert list(chosen) == ["searches", "finals", "playoffs"]
    assert [c.candidate.runs for c in chosen.values()] == [10, 2, 3]
    assert chosen["playoffs"].configurations == 2 + rounds.VARIATIONS + rounds.EXCHANGED
    row = "| Texas | random-60-20-20 | l2b | 6 | 3 |"
    assert row in rounds_tables.round_markdown(PLAYOFFS, plan.store)

    wanted = {repr(_short(choice.candidate.settings)) for choice in chosen.values()}
    trials = shipped.with_proposals(plan, ["texas-l2b"])
    assert wanted <= {repr(trial.candidates[0].settings) for trial in trials}
    assert "Not measured yet" in rounds_tables.markdown(plan.store)
    trials = [t for t in trials if repr(t.candidates[0].settings) in wanted]
    run_missing(lambda: trials, plan, 1, lambda _: None)
    for choice in chosen.values():
        record = fresh.measured("texas-l2b", choice.candidate.settings, plan.store)
        assert record is not None
        pair = f" {record['val_mean']:.2f} / {record['test_mean']:.2f} "
        assert pair in rounds_row(plan.store)


def test_an_exchange_keeps_the_controllers_and_takes_the_backbone() -> None:
    own = entry(90.0, epsilon=0.9, dropout=0.3, propagation_bias=0.0)
    other = Candidate("l2u+c", Settings(strategy="l2u", epsilon=0.1, dropout=0.7, lr=0.05), 91.0, 6)
    found = rounds.exchanged(own, other)
    assert found.method == "l2b, backbone of l2u+c"
    wanted = own.settings.replace(dropout=0.7, lr=0.05)
    assert found.settings == wanted
    alone = Candidate("appnp-none", Settings(strategy="none"), 80.0, 6)
    bare = rounds.exchanged(alone, other).settings
    assert (bare.strategy, bare.training.dropout, bare.controllers.epsilon) == ("none", 0.7, 0.5)


def test_what_a_search_tried_has_the_settings_of_its_method(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "l2u", 90.0)
    found = contest("texas", "l2u", store)
    assert [e.settings.training.dropout for e in found.others] == [0.3, 0.4]
    assert all(e.settings.strategy == "l2u" and e.runs == 5 for e in found.others)
    assert found.configurations == 2
