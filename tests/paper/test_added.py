"""What the controllers add to the backbone at its own settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppro.paper import added, fresh
from ppro.paper.added import PARTS, Added
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.tasks import Plan
from ppro.settings.controllers import ControllerSettings
from ppro.settings.recipes import shipped_recipe


@pytest.mark.parametrize("dataset", EIGHT)
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_it_differs_from_the_backbone_in_the_controllers_alone(dataset: str, strategy: str) -> None:
    backbone = shipped_recipe(f"{dataset}-none").settings.flat()
    own = shipped_recipe(f"{dataset}-{strategy}").settings.flat()
    for part, changes in PARTS.items():
        found = Added(dataset, strategy, part).settings.flat()
        differs = {key for key in found if found[key] != backbone[key]}
        assert "strategy" in differs
        assert differs <= {"strategy", *ControllerSettings.model_fields}
        assert {key for key in ControllerSettings.model_fields if found[key] != own[key]} == set(
            changes
        )


def keep(store: Store, part: str, test: list[float], **changes: object) -> None:
    settings = Added("cora", "l2b", part).settings.replace(**changes).model_dump(exclude_none=True)
    record = {"test": test, "runs": len(test), "val_mean": 84.0, "settings": settings}
    store.write(Added("cora", "l2b", part).path(store), record)


def test_differences_are_paired_and_of_these_settings(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet" in added.markdown(store)
    keep(store, "both", [85.0, 84.0, 86.0])
    assert "Not measured yet" in added.markdown(store)
    base = {"test": [84.0, 83.0, 84.5], "test_mean": 83.83, "test_std": 0.76, "runs": 3}
    settings = shipped_recipe("cora-none").settings.model_dump(exclude_none=True)
    fresh.keep("cora-none", {**base, "val_mean": 83.5, "settings": settings}, store)
    keep(store, "steps", [85.0, 84.0])
    # A setting that did not exist when a result was written had its default.
    path = Added("cora", "l2b", "both").path(store)
    record = json.loads(path.read_text())
    del record["settings"]["jumping"]
    path.write_text(json.dumps(record))
    keep(store, "priorities", [84.0, 83.0, 84.5], epsilon=0.123)
    row = "| Cora | l2b | 3 | 83.8 ± 0.8 | +1.17 ± 0.17 (+0.50), better | – | – |"
    assert row in added.markdown(store)


@pytest.mark.data
def test_runs_are_kept_and_not_made_again(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 2})
    todo = added.missing(["texas"], plan)
    assert len(todo) == 2 * len(PARTS)
    told: list[str] = []
    added.run(todo[:1], plan, 1, told.append)
    assert "texas-l2b both: " in told[0]
    assert added.missing(["texas"], plan) == todo[1:]
    more = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 3})
    assert added.missing(["texas"], more) == todo
