"""What a search of PPro, and of its backbone alone, draws from.

The choices of lr, dropout, decay, λ1, λ2 and ε are taken from the paper's grid. Depth, form and
normalisation are not in it; they are shapes here, the same for a backbone alone and under PPro.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppro.space import Kind, Space

Values = Mapping[str, tuple[Any, ...]]

_TRAINING: dict[Kind, Values] = {
    "homophilous": {
        "dropout": (0.8, 0.5, 0.7, 0.9),
        "weight_decay": (5e-4, 1e-3, 5e-3),
        "lr": (0.01, 0.005, 0.05),
    },
    "heterophilous": {
        "dropout": (0.5, 0.2, 0.7),
        "weight_decay": (5e-4, 1e-5, 1e-3, 5e-3),
        "lr": (0.01, 0.005, 0.05),
    },
}

_CONTROLLERS: dict[str, Values] = {
    "l2b": {
        "epsilon": (0.9, 0.7, 0.5, 0.3),
        "lambda1": (1.0, 0.1),
        "lr_controller": (1e-3, 1e-2),
        "propagation_bias": (-2.0, 0.0),
    },
    "l2u": {
        "epsilon": (0.1, 0.3, 0.5, 0.7),
        "lambda1": (1.0, 0.1),
        "lr_controller": (1e-3, 1e-4, 1e-2),
        "propagation_bias": (4.0, 2.0, 0.0),
    },
    "none": {},
}

_RAW = {"feature_norm": "none"}
_SHAPES: dict[tuple[str, Kind], tuple[Mapping[str, Any], ...]] = {
    ("appnp", "homophilous"): (
        {"form": "hidden", "max_steps": 10},
        {"form": "hidden", "max_steps": 16},
        {"form": "class", "max_steps": 10},
    ),
    ("appnp", "heterophilous"): (
        {**_RAW, "concat": True, "max_steps": 5},
        {**_RAW, "concat": True, "max_steps": 2, "alpha": 0.0},
        {**_RAW, "self_loops": False, "max_steps": 5, "alpha": 0.0},
        {**_RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
    ),
    ("gcn", "homophilous"): (
        {"max_steps": 1},
        {"max_steps": 2},
        {"max_steps": 4},
    ),
    ("gat", "homophilous"): (
        {"max_steps": 1, "decay": "all"},
        {"max_steps": 2, "decay": "all"},
        {"max_steps": 4, "decay": "all"},
    ),
    ("gcnii", "homophilous"): (
        {"max_steps": 16, "decay": "all"},
        {"max_steps": 32, "decay": "all"},
    ),
}
_STEP_DECAY: Values = {"step_decay": (1e-2, 5e-4)}


def ppro_space(backbone: str, strategy: str, kind: Kind) -> Space:
    """The space of PPro on a backbone; heterophilous graphs use that of every other backbone."""
    shapes = _SHAPES.get((backbone, kind))
    if shapes is None:
        shapes = tuple({**_RAW, **shape} for shape in _SHAPES[backbone, "homophilous"])
    values = {**_TRAINING[kind], **_CONTROLLERS[strategy]}
    if backbone == "gcnii":
        values |= _STEP_DECAY
    return Space(shapes, values)
