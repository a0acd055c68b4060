"""Result files made up for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ppro.paper.experiment import Experiment
from ppro.paper.recorded import json_settings
from ppro.paper.store import Store
from ppro.settings.settings import Settings


def reached(test: Sequence[float], val_mean: float = 0.0) -> dict[str, Any]:
    """What runs reached."""
    spread = float(np.std(test, ddof=1)) if len(test) > 1 else 0.0
    mean = float(np.mean(test))
    return {"test": list(test), "test_mean": mean, "test_std": spread, "val_mean": val_mean}


def keep(store: Store, place: str, result: Mapping[str, Any], **facts: Any) -> None:
    """Write the record of one result; its settings may be given flat."""
    result = dict(result)
    settings = result.pop("settings", {})
    if isinstance(settings, Settings):
        settings = json_settings(settings)
    runs = facts.pop("runs", len(result.get("test", [])))
    results = [{"method": facts.get("method", ""), **result}]
    store.write(place, {"runs": runs, **facts, "settings": settings, "results": results})


def keep_experiment(store: Store, experiment: Experiment, result: Mapping[str, Any]) -> None:
    """Write what an experiment of one candidate reached."""
    settings = experiment.candidates[0].settings
    keep(store, experiment.place, {"settings": settings, **result}, **experiment.facts)
