"""The grid of the paper, by its name: what its appendix searches, and nothing more."""

from collections.abc import Mapping
from typing import Any

from ppro.parts import STRATEGIES
from ppro.parts.choices import Kind
from ppro.search.methods import ALONE, Method
from ppro.settings.space import Space, Values

PAPER = "paper"
_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
_TENTHS = tuple(k / 10 for k in range(10))
GRID = Space(
    ({"patience": 100}, {"patience": 200}),
    {
        "lr": (0.005, 0.01, 0.05, 0.1),
        "dropout": (0.5,),
        "weight_decay": (1e-5, 5e-4, 1e-4, 5e-3, 1e-3),
    },
    ranges={"dropout": (0.0, 0.9), "epsilon": (0.1, 0.9)},
)
"""The grid that the paper states; depth and form are not in it and stay as they are."""
OF_CONTROLLERS: Values = {"lambda1": _PENALTIES, "lambda2": _PENALTIES, "epsilon": (0.5,)}
"""What it has for the controllers besides."""
FIRST: Mapping[str, Any] = {"lr": 0.01, "weight_decay": 5e-4, "lambda1": 1.0, "lambda2": 1.0}
"""Where a search of it begins."""


def grid_of(method: Method, kind: Kind) -> Space:
    """Return the grid as a search without Optuna draws from it: ranges in steps of a tenth.

    The network is of the first shape of the method's own space, which has the published depth.
    """
    first = method.spaces(kind)[0].shapes[0]
    shapes = tuple({**first, **shape} for shape in GRID.shapes)
    learns = STRATEGIES.get(method.settings.get("strategy", ALONE)).learns
    values = {**GRID.values, **(OF_CONTROLLERS if learns else {})}
    return Space(shapes, {key: _usual_first(key, choices) for key, choices in values.items()})


def _usual_first(key: str, choices: tuple[Any, ...]) -> tuple[Any, ...]:
    if key in GRID.ranges:
        least, most = GRID.ranges[key]
        choices = (*choices, *(tenth for tenth in _TENTHS if least <= tenth <= most))
    usual = FIRST.get(key, choices[0])
    return (usual, *dict.fromkeys(choice for choice in choices if choice != usual))
