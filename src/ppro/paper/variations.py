"""Settings near given ones: what a last round tries beside the best of the searches."""

import random
from collections.abc import Mapping
from typing import Any

from ppro.settings.controllers import ControllerSettings
from ppro.settings.settings import Settings

_FACTORS = {"lr": 2.0, "weight_decay": 3.0, "lr_controller": 3.0, "lambda1": 3.0}
"""By what these go up and down."""
_STEPS = {"dropout": 0.15, "epsilon": 0.2, "consistency_temperature": 0.1}
"""By how much these do, within 0.05 and 0.95."""
_OF_CONSISTENCY = frozenset({"consistency_temperature"})


def variations(settings: Settings, number: int, seed: int = 0) -> list[Settings]:
    """Settings that differ from the given ones in one value, drawn at random."""
    changes = [change for change in _changes(settings) if _matters(change, settings)]
    random.Random(seed).shuffle(changes)
    return [settings.replace(**change) for change in changes[:number]]


def _changes(settings: Settings) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for key, factor in _FACTORS.items():
        now = settings.flat()[key]
        found += [{key: float(f"{now * f:.3g}")} for f in (factor, 1 / factor)]
    for key, step in _STEPS.items():
        near = (round(settings.flat()[key] + sign * step, 2) for sign in (1, -1))
        found += [{key: value} for value in near if 0.05 <= value <= 0.95]
    found += [
        {"max_steps": 2 * settings.network.max_steps},
        {"hidden": 2 * settings.network.hidden},
    ]
    if settings.network.max_steps > 1:
        found.append({"max_steps": settings.network.max_steps // 2})
    found.append({"use_progress": not settings.controllers.use_progress})
    if settings.controllers.judges == "train":
        found.append({"judge_share": 0.0 if settings.controllers.judge_share else 0.2})
    return found


def _matters(change: Mapping[str, Any], settings: Settings) -> bool:
    """Tell whether a change can make a difference under these settings."""
    (key,) = change
    if settings.strategy == "none" and key in ControllerSettings.model_fields:
        return False
    return settings.training.consistency > 0 or key not in _OF_CONSISTENCY
