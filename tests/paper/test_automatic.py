"""The choice without tuning, measured beside the tuned recipes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.paper import automatic, fresh
from ppro.paper.automatic import ON_CPU, ON_GPU
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.support import keep, keep_experiment, reached


@pytest.mark.data
def test_a_choice_is_kept_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic, "QUICK_BUDGET", 1.0)
    plan = Plan(tmp_path, runs=2, configurations=0, changes={"epochs": 3})
    told: list[str] = []
    assert len(missing(ON_CPU.experiments(plan, ["texas"]), plan.store)) == 2
    run_missing(lambda: ON_CPU.experiments(plan, ["texas"]), plan, 1, told.append)
    assert [line.split(":")[0] for line in told] == ["auto/texas.choice", "auto/texas"]
    assert missing(ON_CPU.experiments(plan, ["texas"]), plan.store) == []
    choice, record = plan.store.read("auto/texas.choice"), plan.store.one("auto/texas")
    assert choice is not None
    assert record is not None
    assert record["first_seed"] == fresh.FIRST_SEED
    assert choice["candidate"] in choice["trials"]

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(automatic, "choose", never)
    more = replace(plan, runs=3)
    run_missing(lambda: ON_CPU.experiments(more, ["texas"]), more, 1, told.append)
    assert len(told) == 3


def test_only_a_gpu_chooses_for_a_gpu(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=2, configurations=0)
    assert ON_GPU.experiments(plan, ["cora"]) == []
    assert len(ON_GPU.experiments(replace(plan, device="cuda"), ["cora"])) == 2
    assert len(ON_CPU.experiments(plan, ["cora"])) == 2
    plan.store.write("auto-gpu/cora.choice", {"settings": {"dropout": 0.2}})
    (runs,) = ON_GPU.experiments(plan, ["cora"])
    assert isinstance(runs, Experiment)
    assert runs.candidates[0].settings == Settings(dropout=0.2)


def test_it_stands_beside_the_tuned_recipe(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet" in ON_CPU.markdown(store)
    keep(store, "auto/cora", reached([80.0, 82.0]))
    store.write("auto/cora.choice", {"candidate": "smooth", "seconds": 171.0})
    assert "| Cora | smooth | 171 | 81.0 ± 1.4 | – | – |" in ON_CPU.markdown(store)
    tuned = fresh.of_recipe("cora-l2b", shipped_recipe("cora-l2b").settings, Plan(tmp_path))
    keep_experiment(store, tuned, reached([82.0, 82.5, 83.0]))
    assert "| – | – |" in ON_CPU.markdown(store)
    keep_experiment(store, tuned, reached([82.0, 83.0]))
    text = ON_CPU.markdown(store)
    assert "| 82.5 ± 0.7 | -1.50 |" in text
    assert "Mean difference: -1.50, least: -1.50." in text
