"""Ways to teach the controllers of a recipe whose nodes all have one step, or one priority.

The backbone stays what it is. Against one step, controllers compare steps, from several starts;
against one priority, priorities have mean 1.
"""

from collections.abc import Mapping
from typing import Any

from ppro.settings.settings import Settings

LEANING = 2.0
"""κ of a held start that leaves nodes some choice."""
EXPLORE, HELD, FIRST = ({"teaching": "compare", "start": s} for s in ("explore", "held", "first"))
"""Controllers that compare steps, by where nodes are before they choose."""
LEAN: Mapping[str, Any] = {**HELD, "kappa": LEANING}
WAYS: tuple[Mapping[str, Any], ...] = (EXPLORE, HELD, LEAN, FIRST)
LEAST_STEPS = 4
"""L that leaves something to choose."""
LEAST_PENALTY = 1.0
"""λ1 that keeps priorities of mean 1 of nearly all nodes between 0 and 2."""


def otherwise(settings: Settings) -> tuple[Settings, ...]:
    """Return the same backbone with controllers that are taught in each of these ways."""
    steps = max(settings.network.max_steps, LEAST_STEPS)
    made = [settings.replace(**way, max_steps=steps) for way in WAYS]
    return tuple(one for i, one in enumerate(made) if one not in [settings, *made[:i]])


def may_be_equal(settings: Settings) -> bool:
    """Tell whether all priorities may end at the cap of their form."""
    chosen = settings.controllers
    as_printed = chosen.teaching == "paper" and chosen.priority_scale == "paper"
    return chosen.use_weighting and chosen.weight_form == "tanh" and as_printed


def of_mean_one(settings: Settings) -> Settings:
    """Return the same with priorities of mean 1, which are never all at a cap."""
    lambda1 = max(settings.controllers.lambda1, LEAST_PENALTY)
    return settings.replace(priority_scale="mean", lambda1=lambda1)
