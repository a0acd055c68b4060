"""The shipped recipes on fresh seeds, through their files."""

from __future__ import annotations

import json

import pytest

from ppro.experiments import shipped
from ppro.experiments.tasks import Plan


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    root = tmp_path_factory.mktemp("results")
    return Plan(root, runs=2, configurations=0, changes={"epochs": 3}, threads=1)


@pytest.mark.data
def test_a_recipe_is_trained_once_on_seeds_of_its_own(plan: Plan) -> None:
    told: list[str] = []
    names = ["texas-none", "texas-l2b"]
    shipped.run_recipes(shipped.missing(names, plan), plan, 1, told.append)
    assert len(told) == 2
    assert shipped.missing(names, plan) == []
    record = json.loads(shipped.path_of("texas-l2b", plan.store).read_text())
    assert record["first_seed"] == shipped.FIRST_SEED
    assert record["settings"]["epochs"] == 3
    text = shipped.markdown(plan.store)
    assert "| Texas | random-60-20-20 | l2b |" in text
    found = shipped.comparison("texas", "l2b", plan.store)
    assert found is not None
    assert found.runs == 2


def test_there_is_one_for_every_graph_of_the_paper() -> None:
    assert {"cora-l2b", "actor-none", "cornell-legacy-l2u"} <= set(shipped.names())
    assert not any(name.startswith("csbm") for name in shipped.names())
