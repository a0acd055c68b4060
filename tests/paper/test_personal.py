"""Personal steps against the best fixed depth."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data import DATASETS
from ppro.paper import personal, personal_tables
from ppro.paper.entrants import DEPTHS
from ppro.paper.experiment import Plan
from ppro.paper.personal import FAMILIES, STRATEGIES, arenas, fixed, noisy_arenas, strategy
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from tests.paper.support import keep, reached


def test_there_are_fourteen_graphs_and_two_with_noise() -> None:
    assert len(arenas()) == 14
    assert {arena.dataset for arena in (*arenas(), *noisy_arenas())} == set(FAMILIES)
    assert {arena.dataset for arena in arenas()} <= set(DATASETS)
    assert [arena.options for arena in noisy_arenas()] == [{"noise": 0.5}] * 2
    assert len({arena.place for arena in (*arenas(), *noisy_arenas())}) == 16


@pytest.mark.parametrize("dataset", FAMILIES)
def test_depths_and_strategies_are_offered_the_same_backbones(dataset: str) -> None:
    alone = fixed(dataset).offered
    assert {s.network.max_steps for s in alone} == set(DEPTHS)
    backbones = {repr((s.inputs, s.network, s.training)) for s in alone if s.network.max_steps == 8}
    assert len(backbones) == 4
    for name in STRATEGIES:
        own = strategy(dataset, name).offered
        assert {repr((s.inputs, s.network, s.training)) for s in own} == backbones
        assert {s.network.max_steps for s in own} == {8}
        assert {(s.controllers.teaching, s.controllers.judges) for s in own} == {
            ("compare", "folds")
        }
        choices = FAMILIES[dataset].choices
        assert all(set(choice) <= own[0].per_run for choice in choices), "one batch for all"


def put(store: Store, name: str, key: str, test: list[float], validation: float) -> None:
    settings = {"max_steps": 4 if key == "fixed" else 8, "start": "held"}
    diagnosis = {"shares": [[0.8, 0.2], [0.3, 0.7], [0.1, 0.9]], "priorities": None}
    result = {**reached(test, validation), "settings": settings, "diagnosis": diagnosis}
    keep(store, f"personal/{name}/{key}", result)


def test_validation_says_which_strategy_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert personal_tables.in_short(store) == ""
    assert "Not measured yet: run `ppro reproduce personal`" in personal_tables.markdown(store)
    put(store, "cora", "fixed", [83.0, 84.0, 83.5], 84.0)
    put(store, "cora", "l2b", [82.0, 83.1, 82.4], 85.0)
    assert "Not measured yet" in personal_tables.markdown(store)
    put(store, "cora", "l2u", [84.0, 85.0, 84.5], 84.5)
    text = personal_tables.markdown(store)
    row = "| Cora | 3 | 83.5 ± 0.5 (4) | L2B, held | 82.5 ± 0.6 | -1.00 ± 0.06 | worse | 20 % |"
    assert row in text
    assert "| -1.00 ± 0.06 | +1.00 ± 0.00 |" in text
    put(store, "texas", "fixed", [80.0, 84.0, 82.0], 84.0)
    put(store, "texas", "l2b", [82.0, 83.0, 80.4], 83.0)
    put(store, "texas", "l2u", [82.5, 83.0, 82.0], 85.0)
    put(store, "dblp-noise", "fixed", [70.0, 71.0, 72.0], 84.0)
    put(store, "dblp-noise", "l2b", [72.0, 73.1, 74.0], 85.0)
    put(store, "dblp-noise", "l2u", [70.0, 71.0, 72.0], 84.0)
    text = personal_tables.markdown(store)
    assert (
        "The chosen strategy is better beyond two standard errors on 0, worse on 1 and a tie on 1 "
        "of 2 graphs without noise; worse beyond one standard error on 1: Cora; mean difference "
        "-0.25." in text
    )
    assert personal_tables.in_short(store).endswith("on 1: Cora; mean difference -0.25.")
    assert "| DBLP with noise | 3 | 71.0 ± 1.0 (4) | L2B, held |" in text


@pytest.mark.data
def test_a_tiny_version_runs_from_end_to_end(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 3}, threads=1)
    where = [arena for arena in arenas() if arena.dataset in ("texas", "cora")]
    todo = personal.experiments(plan, where)
    run_missing(lambda: todo, plan, 1, lambda line: None)
    assert missing(todo, plan.store) == []
    text = personal_tables.markdown(plan.store)
    assert "| Texas | 2 |" in text
    assert "| Cora | 1 |" in text
