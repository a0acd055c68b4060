"""The shipped recipes on fresh seeds, through their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.paper import fresh, shipped
from ppro.paper.experiment import Plan
from ppro.paper.pool import missing, run_missing
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.support import keep_experiment, reached


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    root = tmp_path_factory.mktemp("results")
    return Plan(root, runs=2, configurations=0, changes={"epochs": 3}, threads=1)


@pytest.mark.data
def test_a_recipe_is_trained_once_on_seeds_of_its_own(plan: Plan) -> None:
    told: list[str] = []
    names = ["texas-none", "texas-l2b"]
    run_missing(lambda: shipped.experiments(plan, names), plan, 1, told.append)
    assert len(told) == 2
    assert missing(shipped.experiments(plan, names), plan.store) == []
    (record,) = fresh.all_of("texas-l2b", plan.store)
    assert record["first_seed"] == fresh.FIRST_SEED
    assert record["settings"]["epochs"] == 3
    text = shipped.markdown(plan.store)
    assert "| Texas | random-60-20-20 | l2b |" in text
    assert "| Cora | public | l2b | " in text
    assert "| – | – | not measured yet (85.0) | – |" in text
    found = fresh.comparison("texas", "l2b", plan.store)
    assert found is not None
    assert found.runs == 2 * fresh.MORE


def test_random_splits_have_more_runs(plan: Plan) -> None:
    assert fresh.runs_on("texas", plan) == 2 * fresh.MORE
    assert fresh.runs_on("cora", plan) == 2
    assert fresh.runs_on("actor", plan) == 2 * fresh.MORE


def test_there_is_one_for_every_graph_of_the_paper() -> None:
    assert {"cora-l2b", "actor-none", "cornell-legacy-l2u"} <= set(shipped.names())
    assert not any(name.startswith("csbm") for name in shipped.names())


def test_a_result_of_settings_that_a_recipe_had_before_is_not_shown(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0)
    settings = shipped_recipe("texas-l2b").settings

    def put(settings: Settings) -> None:
        experiment = fresh.of_recipe("texas-l2b", settings, plan)
        keep_experiment(plan.store, experiment, reached([80.0], 90.0))

    put(settings.replace(dropout=settings.training.dropout / 2))
    assert fresh.reached("texas-l2b", plan.store) is None
    assert "Not measured yet" in shipped.markdown(plan.store)
    put(settings.replace(epochs=3))
    assert fresh.reached("texas-l2b", plan.store) is not None
    assert "| Texas | random-60-20-20 | l2b |" in shipped.markdown(plan.store)
