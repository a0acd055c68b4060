"""The shipped recipes on fresh seeds, through their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.paper import fresh, shipped, shipped_nodes
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.pool import missing, run_missing
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from ppro.training.diagnosis import Diagnosis, PrioritySpread, StepSpread
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
    found = fresh.comparison("texas-l2b", plan.store)
    assert found is not None
    assert found.runs == 2 * fresh.MORE
    assert len(record["diagnosis"]["shares"]) == found.runs
    assert "### Steps and priorities within runs" in text
    assert f"| Texas | l2b | {found.runs} |" in text
    assert "| Texas | none | " not in text


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


def test_old_results_say_that_nothing_was_recorded_and_run_again(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0)
    names = ["texas-none", "texas-l2b"]
    for experiment in shipped.experiments(plan, names):
        keep_experiment(plan.store, experiment, reached([80.0] * 5, 90.0))
    text = shipped.markdown(plan.store)
    assert "| Texas | l2b | 5 |" + " not recorded |" * 5 in text
    assert "In most runs" not in text
    (left,) = missing(shipped.experiments(plan, names), plan.store)
    assert left.place.startswith("recipes/texas-l2b/")
    spread = Diagnosis((StepSpread((0.0, 1.0)),) * 5, (PrioritySpread(2, 0, 2, 2, 1, 1),) * 5)
    kept = reached([80.0] * 5, 90.0) | {"diagnosis": spread.facts()}
    assert isinstance(left, Experiment)
    keep_experiment(plan.store, left, kept)
    assert missing(shipped.experiments(plan, names), plan.store) == []


def recorded(shares: list[list[float]], priorities: list[PrioritySpread]) -> str:
    """The line of a recipe whose runs gave nodes these steps and priorities."""
    spread = Diagnosis(tuple(StepSpread(tuple(run)) for run in shares), tuple(priorities))
    record = {"runs": len(shares), "diagnosis": spread.facts()}
    text = shipped_nodes.markdown([(shipped_recipe("texas-l2b"), record)])
    return next(line for line in text.splitlines() if line.startswith("| Texas"))


def test_shares_are_ordered_within_runs() -> None:
    # Each run is at one step, though over the runs no step has more than half of the nodes.
    line = recorded(
        [[1.0, 0.0, 0.0], [0.0, 0.98, 0.02]], [PrioritySpread(1, 0.5, 0.2, 2, 0, 0)] * 2
    )
    assert "| 99 %, 1 %, 0 % | 0: 50 %, 1: 49 %, 2: 1 % | **2 of 2** |" in line
    assert "| 1.00 ± 0.50, 0.20 to 2.00 | 0 of 2 |" in line


def test_equal_priorities_are_marked() -> None:
    shares, mixed = [[0.5, 0.3, 0.2]] * 3, PrioritySpread(1, 0.5, 0.2, 2, 0, 0)
    capped = PrioritySpread(2, 0, 2, 2, 1, 1)
    line = recorded(shares, [capped, capped, mixed])
    assert line.endswith("67 % at the cap | **2 of 3** |")
    assert "| 50 %, 30 %, 20 % |" in line
    assert "| 0 of 3 |" in line
    assert recorded(shares, [capped, mixed, mixed]).endswith("| 1 of 3 |")
