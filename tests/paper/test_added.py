"""What the controllers add to the backbone at its own settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppro.paper import added, fresh
from ppro.paper.added import PARTS
from ppro.paper.entrants import TOGETHER
from ppro.paper.experiment import Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.settings.controllers import ControllerSettings
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.support import keep, keep_experiment, reached


@pytest.mark.parametrize("dataset", EIGHT)
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_it_differs_from_the_backbone_in_the_controllers_alone(
    dataset: str, strategy: str, tmp_path: Path
) -> None:
    backbone = shipped_recipe(f"{dataset}-none").settings.flat()
    controllers = shipped_recipe(f"{dataset}-{strategy}").settings
    own = controllers.flat()
    for part in PARTS:
        changes = added.changes_of(part, controllers)
        (candidate,) = added.experiment(dataset, strategy, part, Plan(tmp_path)).candidates
        found = candidate.settings.flat()
        differs = {key for key in found if found[key] != backbone[key]}
        assert "strategy" in differs
        assert differs <= {"strategy", *ControllerSettings.model_fields}
        assert {key for key in ControllerSettings.model_fields if found[key] != own[key]} == set(
            changes
        )


def test_controllers_that_compare_keep_nodes_together_for_priorities_alone() -> None:
    comparing = Settings.read({"teaching": "compare", "strategy": "l2b"})
    assert added.changes_of("priorities", comparing) == {"kappa": TOGETHER}
    assert added.changes_of("steps", comparing) == {"use_weighting": False}
    assert added.changes_of("priorities", Settings()) == {"use_propagation": False}


def put(store: Store, part: str, test: list[float], **changes: object) -> None:
    experiment = added.experiment("cora", "l2b", part, Plan(store.root, changes=changes))
    keep_experiment(store, experiment, reached(test, 84.0))


def test_differences_are_paired_and_of_these_settings(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet" in added.markdown(store)
    put(store, "both", [85.0, 84.0, 86.0])
    assert "Not measured yet" in added.markdown(store)
    base = fresh.of_recipe("cora-none", shipped_recipe("cora-none").settings, Plan(tmp_path))
    keep_experiment(store, base, reached([84.0, 83.0, 84.5], 83.5))
    put(store, "steps", [85.0, 84.0])
    # A setting that did not exist when a result was written had its default.
    path = store.path(added.experiment("cora", "l2b", "both", Plan(tmp_path)).place)
    record = json.loads(path.read_text())
    del record["settings"]["controller_units"]
    path.write_text(json.dumps(record))
    put(store, "priorities", [84.0, 83.0, 84.5], epsilon=0.123)
    row = "| Cora | l2b | 3 | 83.8 ± 0.8 | +1.17 ± 0.17 (+0.50), better | – | – |"
    assert row in added.markdown(store)


def test_a_result_of_a_setting_that_is_not_known_is_not_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    experiment = added.experiment("cora", "l2b", "both", Plan(tmp_path))
    keep_experiment(store, experiment, reached([85.0]))
    assert experiment.record(store) is not None
    keep(store, experiment.place, {**reached([85.0]), "settings": {"magic": 1}})
    assert experiment.record(store) is None


@pytest.mark.data
def test_runs_are_kept_and_not_made_again(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 2})
    todo = added.experiments(plan, ["texas"])
    assert len(todo) == 1 + 2 * len(PARTS)
    told: list[str] = []
    run_missing(lambda: todo[:2], plan, 1, told.append)
    assert told[0].startswith("recipes/texas-none/")
    assert told[1].startswith("added/texas-l2b/both: ")
    assert missing(todo, plan.store) == todo[2:]
    more = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 3})
    assert len(missing(added.experiments(more, ["texas"]), more.store)) == len(todo)
