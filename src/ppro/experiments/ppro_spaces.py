"""What a search of PPro, and of its backbone alone, draws from.

The choices of lr, dropout, decay, λ1 and ε are taken from the paper's grid. Depth, form and
normalisation are not in it; they are shapes here.
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
        "dropout": (0.2, 0.5, 0.7),
        "weight_decay": (5e-3, 1e-5, 5e-4),
        "lr": (0.01, 0.005, 0.05),
    },
}

_CONTROLLERS: dict[tuple[str, Kind], Values] = {
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

_RAW = {"feature_norm": "none", "decay": "all"}
_CITATION = (
    {"form": "hidden", "max_steps": 10},
    {"form": "hidden", "max_steps": 16},
    {"form": "class", "max_steps": 10},
)
_PPRO = (
    {**_RAW, "concat": True, "max_steps": 5, "alpha": 0.0, "weight_form": "tanh"},
    {**_RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
    {**_RAW, "self_loops": False, "max_steps": 5, "alpha": 0.0},
    {**_RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
)
# Alone, the backbone has no controller that finds its depth; so the search may.
_ALONE = (
    {**_RAW, "concat": True, "max_steps": 2, "alpha": 0.0},
    {**_RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
    {**_RAW, "self_loops": False, "max_steps": 1, "alpha": 0.0},
    {**_RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
)
_OTHERS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "gcn": ({"max_steps": 1}, {"max_steps": 2}, {"max_steps": 4}),
    "gat": tuple({"max_steps": steps, "decay": "all"} for steps in (1, 2, 4)),
    "gcnii": tuple({"max_steps": steps, "decay": "all"} for steps in (16, 32)),
}
_STEP_DECAY: Values = {"step_decay": (1e-2, 5e-4)}


def ppro_space(backbone: str, strategy: str, kind: Kind) -> Space:
    """The space of PPro on a backbone, or of the backbone alone (strategy "none")."""
    values = {**_TRAINING[kind], **_CONTROLLERS.get((strategy, kind), {})}
    if backbone == "gcnii":
        values |= _STEP_DECAY
    return Space(_shapes(backbone, strategy, kind), values)


def _shapes(backbone: str, strategy: str, kind: Kind) -> tuple[Mapping[str, Any], ...]:
    if backbone == "appnp" and kind == "homophilous":
        return _CITATION
    if backbone == "appnp":
        return _ALONE if strategy == "none" else _PPRO
    shapes = _OTHERS[backbone]
    return shapes if kind == "homophilous" else tuple({**s, **_RAW} for s in shapes)


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


_DEPTHS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "none": ({"max_steps": 1}, {"max_steps": 2}),
    "l2b": ({"max_steps": 2}, {"max_steps": 5, "use_progress": True}),
    "l2u": ({"max_steps": 2}, {"max_steps": 5, "use_progress": True}),
}
_OWN_FIRST = {**_RAW, "concat": True, "alpha": 0.0, "weight_form": "tanh"}
_OWN_APART = {**_OWN_FIRST, "self_loops": False}
_OTHERS_ONLY = {**_RAW, "self_loops": False, "alpha": 0.0}
_LITTLE_OF_OTHERS = {**_RAW, "form": "class", "alpha": 0.9}
_OWN: Values = {
    "dropout": (0.2, 0.5, 0.7),
    "weight_decay": (5e-3, 5e-4, 1e-2),
    "lr": (0.05, 0.01),
}
_OTHERS_VALUES: Values = {
    "dropout": (0.2, 0.5),
    "weight_decay": (1e-5, 1e-4),
    "lr": (0.05, 0.01),
}
_LITTLE: Values = {
    "dropout": (0.5, 0.2, 0.7),
    "weight_decay": (5e-4, 5e-3, 1e-3),
    "lr": (0.01, 0.05),
}
_WIDE_HETEROPHILOUS: tuple[tuple[Mapping[str, Any], Values], ...] = (
    (_OWN_FIRST, _OWN),
    (_OWN_APART, _OWN),
    (_OTHERS_ONLY, _OTHERS_VALUES),
    ({**_OTHERS_ONLY, "form": "features"}, _OTHERS_VALUES),
    (_LITTLE_OF_OTHERS, _LITTLE),
)
_WIDE_CONTROLLERS: dict[tuple[str, Kind], Values] = {
    ("l2b", "heterophilous"): {"judge_share": (0.0, 0.2)},
    ("l2u", "heterophilous"): {"judge_share": (0.2, 0.0), "propagation_bias": (2.0, 0.0, 4.0)},
}

_AGREEING: Values = {
    "consistency": (1.0, 0.5),
    "consistency_temperature": (0.4, 0.3, 0.2),
    "node_dropout": (0.5,),
    "lr": (0.05, 0.01),
}
_FEATURES_AGREE: Values = {
    **_AGREEING,
    "dropout": (0.5, 0.8),
    "weight_decay": (5e-4, 1e-3, 5e-3),
}
_SCORES_AGREE: Values = {**_AGREEING, "dropout": (0.5, 0.2), "weight_decay": (5e-3, 1e-3)}
_FOUR = {"consistency_forwards": 4}
_WIDE_HOMOPHILOUS: tuple[tuple[Mapping[str, Any], Values], ...] = (
    ({**_FOUR, "form": "features", "max_steps": 10}, _FEATURES_AGREE),
    ({**_FOUR, "form": "features", "max_steps": 16}, _FEATURES_AGREE),
    ({**_FOUR, "form": "class", "max_steps": 10}, _SCORES_AGREE),
)


def wide_spaces(strategy: str, kind: Kind) -> tuple[Space, ...]:
    """PPro on APPNP, or APPNP alone, in more forms, each with values that suit it.

    On heterophilous graphs PPro may show its controller the progress of a step and keep judges
    from the backbone; the backbone alone may choose its depth. On homophilous ones four forwards
    agree on all nodes.
    """
    controllers = {
        **_CONTROLLERS.get((strategy, kind), {}),
        **_WIDE_CONTROLLERS.get((strategy, kind), {}),
    }
    if kind == "homophilous":
        return tuple(Space((form,), {**own, **controllers}) for form, own in _WIDE_HOMOPHILOUS)
    return tuple(
        Space(tuple({**form, **depth} for depth in _DEPTHS[strategy]), {**own, **controllers})
        for form, own in _WIDE_HETEROPHILOUS
    )
