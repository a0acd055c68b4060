"""What a search of the residual networks may choose from, as backbones and as rivals.

Depths, widths and rates are about those of "Classic GNNs are strong baselines" (Luo et al., 2024).
"""

from collections.abc import Mapping
from typing import Any

from ppro.parts.choices import Kind
from ppro.settings.space import Space, Values, usual

_ALL = {"decay": "all"}
_LIKE = usual((0.5, 0.7, 0.3), (5e-4, 5e-5, 5e-3), (0.005, 0.01, 0.001))
_UNLIKE = usual((0.5, 0.2, 0.7), (5e-4, 5e-5, 1e-5), (0.005, 0.01, 0.001))
_FORMS: Mapping[Kind, tuple[Mapping[str, Any], ...]] = {
    "homophilous": (
        {**_ALL, "hidden": 64, "norm": "layer"},
        {**_ALL, "hidden": 256, "norm": "none", "linear_first": False, "drop_features": True},
        {**_ALL, "hidden": 256, "norm": "layer"},
    ),
    "heterophilous": (
        {**_ALL, "hidden": 64, "norm": "batch", "feature_norm": "none"},
        {**_ALL, "hidden": 256, "norm": "batch", "feature_norm": "none", "linear_first": False},
        {**_ALL, "hidden": 64, "norm": "layer", "feature_norm": "none"},
    ),
}
_VALUES: Mapping[Kind, Values] = {"homophilous": _LIKE, "heterophilous": _UNLIKE}
_DEEP: Mapping[Kind, int] = {"homophilous": 8, "heterophilous": 12}


def _shapes(kind: Kind, depth: int) -> tuple[Mapping[str, Any], ...]:
    """Return every form at a depth, and the first one deep."""
    first = _FORMS[kind][0]
    shallow = tuple({**form, "max_steps": depth} for form in _FORMS[kind])
    return (*shallow, {**first, "max_steps": _DEEP[kind]})


def _alone(kind: Kind) -> tuple[Mapping[str, Any], ...]:
    """Return every form with two steps, and the first one with four and deep."""
    return (*_shapes(kind, 2), {**_FORMS[kind][0], "max_steps": 4})


BACKBONE: dict[Kind, Space] = {
    kind: Space((*_shapes(kind, 4), {**_FORMS[kind][0], "max_steps": 6}), values, _alone(kind))
    for kind, values in _VALUES.items()
}
"""Under controllers a node can stop at any of four layers or more."""
RIVAL: dict[Kind, Space] = {kind: Space(_alone(kind), values) for kind, values in _VALUES.items()}
"""Two layers and up."""
