"""The choice without tuning, measured beside the tuned recipes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.paper import automatic, fresh
from ppro.paper.automatic import ON_CPU, ON_GPU
from ppro.paper.store import Store
from ppro.paper.tasks import Plan
from ppro.settings.recipes import shipped_recipe


@pytest.mark.data
def test_a_choice_is_kept_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic, "QUICK_BUDGET", 1.0)
    plan = Plan(tmp_path, runs=2, configurations=0, changes={"epochs": 3})
    told: list[str] = []
    ON_CPU.run(ON_CPU.missing(["texas"], plan), plan, 1, told.append)
    assert ON_CPU.missing(["texas"], plan) == []
    record = plan.store.read(ON_CPU.path_of("texas", plan.store))
    assert record is not None
    assert record["first_seed"] == fresh.FIRST_SEED
    assert record["candidate"] in record["trials"]

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(automatic, "choose", never)
    more = Plan(tmp_path, runs=3, configurations=0, changes={"epochs": 3})
    ON_CPU.run(ON_CPU.missing(["texas"], more), more, 1, told.append)
    assert len(told) == 2


def test_only_a_gpu_chooses_for_a_gpu(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=2, configurations=0)
    assert ON_GPU.missing(["cora"], plan) == []
    assert ON_GPU.missing(["cora"], replace(plan, device="cuda")) == ["cora"]
    plan.store.write(ON_GPU.path_of("cora", plan.store), {"runs": 1})
    assert ON_GPU.missing(["cora"], plan) == ["cora"]
    assert ON_CPU.missing(["cora"], replace(plan, device="cuda")) == ["cora"]


def test_it_stands_beside_the_tuned_recipe(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet" in ON_CPU.markdown(store)
    reached = {"test": [80.0, 82.0], "test_mean": 81.0, "test_std": 1.4, "runs": 2}
    store.write(ON_CPU.path_of("cora", store), {**reached, "candidate": "smooth", "seconds": 171.0})
    assert "| Cora | smooth | 171 | 81.0 ± 1.4 | – | – |" in ON_CPU.markdown(store)
    settings = shipped_recipe("cora-l2b").settings.model_dump(exclude_none=True)
    tuned = {"val_mean": 84.0, "test_mean": 82.5, "test_std": 0.5, "runs": 2, "settings": settings}
    fresh.keep("cora-l2b", {**tuned, "runs": 3}, store)
    assert "| – | – |" in ON_CPU.markdown(store)
    fresh.keep("cora-l2b", tuned, store)
    text = ON_CPU.markdown(store)
    assert "| 82.5 ± 0.5 | -1.50 |" in text
    assert "Mean difference: -1.50, least: -1.50." in text
