"""What the wide searches of PPro, and of its backbone alone, draw from: more forms, one by one.

Each form has values that suit it, so that a search wastes little on those that do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppro.paper.ppro_spaces import CONTROLLERS, RAW, Values
from ppro.parts.choices import Kind
from ppro.settings.space import Space

_ALONE: tuple[Mapping[str, Any], ...] = ({"max_steps": 1}, {"max_steps": 2})
_CONTROLLED: tuple[Mapping[str, Any], ...] = (
    {"max_steps": 2},
    {"max_steps": 5, "use_progress": True},
)
_OWN_FIRST = {**RAW, "concat": True, "alpha": 0.0, "weight_form": "tanh"}
_OWN_APART = {**_OWN_FIRST, "self_loops": False}
_OTHERS_ONLY = {**RAW, "self_loops": False, "alpha": 0.0}
_LITTLE_OF_OTHERS = {**RAW, "form": "class", "alpha": 0.9}
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
        **CONTROLLERS.get((strategy, kind), {}),
        **_WIDE_CONTROLLERS.get((strategy, kind), {}),
    }
    if kind == "homophilous":
        return tuple(Space((form,), {**own, **controllers}) for form, own in _WIDE_HOMOPHILOUS)
    depths = _ALONE if strategy == "none" else _CONTROLLED
    return tuple(
        Space(tuple({**form, **depth} for depth in depths), {**own, **controllers})
        for form, own in _WIDE_HETEROPHILOUS
    )
