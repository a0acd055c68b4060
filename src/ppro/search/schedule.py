"""The schedule of controllers that compare, where there are few epochs for it."""

from collections.abc import Mapping
from typing import Any

from ppro.settings.settings import Settings

SCHEDULED = 0.75
"""Share of the epochs in which controllers that compare have warmed up and settled."""
_SCHEDULE = {"warm_up", "settle"}


def schedule_of(given: Mapping[str, Any], usual: Settings | None = None) -> dict[str, Any]:
    """Return a shorter schedule of controllers that compare, where few epochs are given.

    Setting a part of the schedule decides on all of it.

    Args:
        given: the settings that the user gave.
        usual: those that hold otherwise; the defaults when None.
    """
    usual = usual or Settings(teaching="compare")
    epochs, own = given.get("epochs"), usual.controllers
    if not isinstance(epochs, int) or epochs < 1 or _SCHEDULE & given.keys():
        return {}
    if usual.strategy == "none" or own.teaching != "compare":
        return {}
    if own.warm_up + own.settle <= SCHEDULED * epochs:
        return {}
    return {"warm_up": epochs // 4, "settle": max(1, epochs // 2)}


def told_schedule(made: Mapping[str, Any], settings: Settings) -> str:
    """Return what to say of a schedule that was made shorter; nothing of any other."""
    compares = settings.strategy != "none" and settings.controllers.teaching == "compare"
    if not compares or not made.keys() >= _SCHEDULE:
        return ""
    return (
        f"few epochs: of {settings.training.epochs}, controllers warm up in {made['warm_up']} and "
        f"settle in {made['settle']}; --set warm_up=N --set settle=N says otherwise"
    )
