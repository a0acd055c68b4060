"""Ways to teach the controllers of a recipe whose nodes all stop at one step.

The backbone stays what it is; controllers compare steps, from several starts.
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


def otherwise(settings: Settings) -> tuple[Settings, ...]:
    """Return the same backbone with controllers that are taught in each of these ways."""
    steps = max(settings.network.max_steps, LEAST_STEPS)
    made = [settings.replace(**way, max_steps=steps) for way in WAYS]
    return tuple(one for i, one in enumerate(made) if one not in [settings, *made[:i]])
