"""What a search of PPro, and of its backbone alone, draws from.

The choices of lr, dropout, decay, λ1 and ε are taken from the paper's grid. Depth, form and
normalisation are not in it; they are shapes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppro.parts.choices import Kind
from ppro.settings.space import Space

Values = Mapping[str, tuple[Any, ...]]

_TRAINING: dict[Kind, Values] = {
    "homophilous": {
        "dropout": (0.8, 0.5, 0.7, 0.9),
        "weight_decay": (5e-4, 1e-3, 5e-3),
        "lr": (0.01, 0.005, 0.05),
    },
    "heterophilous": {
        "dropout": (0.2, 0.5, 0.7),
        "weight_decay": (5e-3, 1e-5, 5e-4),
        "lr": (0.01, 0.005, 0.05),
    },
}

CONTROLLERS: dict[tuple[str, Kind], Values] = {
    ("l2b", "homophilous"): {
        "epsilon": (0.9, 0.7, 0.5, 0.3),
        "lambda1": (1.0, 0.1),
        "lr_controller": (1e-3, 1e-2),
        "propagation_bias": (-2.0, 0.0),
    },
    ("l2b", "heterophilous"): {
        "epsilon": (0.3, 0.5, 0.7, 0.9),
        "lambda1": (0.1, 1.0),
        "lr_controller": (1e-2, 1e-3),
        "propagation_bias": (0.0, -2.0),
    },
    ("l2u", "homophilous"): {
        "epsilon": (0.1, 0.3, 0.5, 0.7),
        "lambda1": (1.0, 0.1),
        "lr_controller": (1e-3, 1e-4, 1e-2),
        "propagation_bias": (4.0, 2.0, 0.0),
    },
    ("l2u", "heterophilous"): {
        "epsilon": (0.5, 0.3, 0.7),
        "lambda1": (0.1, 1.0),
        "lr_controller": (1e-2, 1e-3),
        "propagation_bias": (0.0, 4.0),
    },
}

RAW = {"feature_norm": "none", "decay": "all"}
_CITATION = (
    {"form": "hidden", "max_steps": 10},
    {"form": "hidden", "max_steps": 16},
    {"form": "class", "max_steps": 10},
)
_PPRO = (
    {**RAW, "concat": True, "max_steps": 5, "alpha": 0.0, "weight_form": "tanh"},
    {**RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
    {**RAW, "self_loops": False, "max_steps": 5, "alpha": 0.0},
    {**RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
)
# Alone, the backbone has no controller that finds its depth; so the search may.
_ALONE = (
    {**RAW, "concat": True, "max_steps": 2, "alpha": 0.0},
    {**RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
    {**RAW, "self_loops": False, "max_steps": 1, "alpha": 0.0},
    {**RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
)
_OTHERS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "gcn": ({"max_steps": 1}, {"max_steps": 2}, {"max_steps": 4}),
    "gat": tuple({"max_steps": steps, "decay": "all"} for steps in (1, 2, 4)),
    "gcnii": tuple({"max_steps": steps, "decay": "all"} for steps in (16, 32)),
    "grand": tuple(
        {"max_steps": steps, "hidden": 32, "decay": "all", "consistency_forwards": 4}
        for steps in (5, 10)
    ),
}
_GRAND: Values = {
    "consistency": (1.0, 0.7),
    "consistency_temperature": (0.2, 0.5),
    "node_dropout": (0.5,),
    "dropout": (0.7, 0.5),
    "lr": (0.2, 0.05, 0.01),
}
"""About the values of its original."""
_STEP_DECAY: Values = {"step_decay": (1e-2, 5e-4)}


def ppro_space(backbone: str, strategy: str, kind: Kind) -> Space:
    """The space of PPro on a backbone, or of the backbone alone (strategy "none")."""
    values = {**_TRAINING[kind], **CONTROLLERS.get((strategy, kind), {})}
    if backbone == "gcnii":
        values |= _STEP_DECAY
    if backbone == "grand":
        values |= _GRAND
    return Space(_shapes(backbone, strategy, kind), values)


def _shapes(backbone: str, strategy: str, kind: Kind) -> tuple[Mapping[str, Any], ...]:
    if backbone == "appnp" and kind == "homophilous":
        return _CITATION
    if backbone == "appnp":
        return _ALONE if strategy == "none" else _PPRO
    shapes = _OTHERS[backbone]
    return shapes if kind == "homophilous" else tuple({**s, **RAW} for s in shapes)


_CONSISTENCY: Values = {
    "consistency": (1.0, 0.3, 0.1),
    "consistency_temperature": (0.5, 0.3),
    "node_dropout": (0.5,),
    "dropout": (0.2, 0.5, 0.8),
    "weight_decay": (1e-3, 5e-4, 5e-3),
}


def with_consistency(space: Space) -> Space:
    """A space of a method, with the choices of consistency besides; it drops whole nodes."""
    return Space(space.shapes, {**space.values, **_CONSISTENCY})
