"""What a search of PPro on a backbone, and of the backbone alone, may choose from.

The choices of learning rate, dropout and decay are taken from the paper's grid. Depth, form and
normalisation are not in it; they are shapes here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ppro.parts.choices import Kind
from ppro.settings.space import Shapes, Space, Values, usual

_LR = (0.01, 0.005, 0.05)
_TRAINING: dict[Kind, Values] = {
    "homophilous": {
        "dropout": (0.8, 0.5, 0.7, 0.9),
        "weight_decay": (5e-4, 1e-3, 5e-3),
        "lr": _LR,
    },
    "heterophilous": {"dropout": (0.2, 0.5, 0.7), "weight_decay": (5e-3, 1e-5, 5e-4), "lr": _LR},
}
RAW = {"feature_norm": "none", "decay": "all"}
"""Features as they are, which suits heterophilous graphs."""


def both_kinds(shapes: Shapes, values: Values | None = None) -> dict[Kind, Space]:
    """Return the same shapes for either kind of graph, with the features as they are on one.

    Args:
        values: choices of settings beside learning rate, dropout and decay, or instead of them.
    """
    more = values or {}
    return {
        "homophilous": Space(shapes, {**_TRAINING["homophilous"], **more}),
        "heterophilous": Space(
            tuple({**shape, **RAW} for shape in shapes), {**_TRAINING["heterophilous"], **more}
        ),
    }


_OWN_FIRST = {**RAW, "concat": True, "alpha": 0.0, "weight_form": "tanh"}
_OTHERS_ONLY = {**RAW, "self_loops": False, "alpha": 0.0}
_LITTLE_OF_OTHERS = {**RAW, "form": "class", "alpha": 0.9}


def _form(form: Mapping[str, Any], **values: tuple[float, ...]) -> Space:
    """Return a form of a wide search; alone, the backbone may choose its depth instead."""
    controlled = ({"max_steps": 2}, {"max_steps": 5, "use_progress": True})
    alone = ({"max_steps": 1}, {"max_steps": 2})
    return Space(
        tuple({**form, **depth} for depth in controlled),
        values,
        alone=tuple({**form, **depth} for depth in alone),
    )


_OWN: dict[str, tuple[float, ...]] = {
    "dropout": (0.2, 0.5, 0.7),
    "weight_decay": (5e-3, 5e-4, 1e-2),
    "lr": (0.05, 0.01),
}
_OTHERS: dict[str, tuple[float, ...]] = {
    "dropout": (0.2, 0.5),
    "weight_decay": (1e-5, 1e-4),
    "lr": (0.05, 0.01),
}
_LITTLE: dict[str, tuple[float, ...]] = {
    "dropout": (0.5, 0.2, 0.7),
    "weight_decay": (5e-4, 5e-3, 1e-3),
    "lr": (0.01, 0.05),
}
_AGREEING: Values = {
    "consistency": (1.0, 0.5),
    "consistency_temperature": (0.4, 0.3, 0.2),
    "node_dropout": (0.5,),
    "lr": (0.05, 0.01),
}
_FEATURES_AGREE = {**_AGREEING, "dropout": (0.5, 0.8), "weight_decay": (5e-4, 1e-3, 5e-3)}
_SCORES_AGREE = {**_AGREEING, "dropout": (0.5, 0.2), "weight_decay": (5e-3, 1e-3)}
_FOUR = {"consistency_forwards": 4}

APPNP: dict[Kind, Space] = {
    "homophilous": Space(
        (
            {"form": "hidden", "max_steps": 10},
            {"form": "hidden", "max_steps": 16},
            {"form": "class", "max_steps": 10},
        ),
        _TRAINING["homophilous"],
        wide=(
            Space(({**_FOUR, "form": "features", "max_steps": 10},), _FEATURES_AGREE),
            Space(({**_FOUR, "form": "features", "max_steps": 16},), _FEATURES_AGREE),
            Space(({**_FOUR, "form": "class", "max_steps": 10},), _SCORES_AGREE),
        ),
    ),
    "heterophilous": Space(
        (
            {**RAW, "concat": True, "max_steps": 5, "alpha": 0.0, "weight_form": "tanh"},
            {**RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
            {**RAW, "self_loops": False, "max_steps": 5, "alpha": 0.0},
            {**RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
        ),
        _TRAINING["heterophilous"],
        # No controller finds the depth of the backbone alone; so the search may.
        alone=(
            {**RAW, "concat": True, "max_steps": 2, "alpha": 0.0},
            {**RAW, "concat": True, "max_steps": 5, "alpha": 0.1},
            {**RAW, "self_loops": False, "max_steps": 1, "alpha": 0.0},
            {**RAW, "form": "class", "max_steps": 5, "alpha": 0.9},
        ),
        wide=(
            _form(_OWN_FIRST, **_OWN),
            _form({**_OWN_FIRST, "self_loops": False}, **_OWN),
            _form(_OTHERS_ONLY, **_OTHERS),
            _form({**_OTHERS_ONLY, "form": "features"}, **_OTHERS),
            _form(_LITTLE_OF_OTHERS, **_LITTLE),
        ),
    ),
}
GCN = both_kinds(({"max_steps": 1}, {"max_steps": 2}, {"max_steps": 4}))
GAT = both_kinds(tuple({"max_steps": steps, "decay": "all"} for steps in (1, 2, 4)))


def _wherever(depths: Sequence[int], *forms: Mapping[str, Any]) -> Shapes:
    """Return each form at the first depth, and the first form at the other depths."""
    deeper = ({**forms[0], "max_steps": depth} for depth in depths[1:])
    return (*({**form, "max_steps": depths[0]} for form in forms), *deeper)


def _scores(forms: Shapes, values: Values) -> Space:
    """Return the space of class scores: the original's one step alone, more to choose from."""
    return Space(_wherever((4, 8), *forms), values, alone=_wherever((1, 4), *forms))


_UNLIKE: Shapes = (
    {"hidden": 64, "feature_norm": "none"},
    {"hidden": 64, "feature_norm": "row"},
    {"hidden": 64, "feature_norm": "none", "self_loops": False},
)
# The values of the rivals GCN and GAT, which one step is.
GCN_SCORES: dict[Kind, Space] = {
    "homophilous": _scores(
        ({"hidden": 64}, {"hidden": 16}, {"hidden": 64, "decay": "all"}),
        usual((0.5, 0.6, 0.7, 0.8), (5e-4, 1e-3, 5e-3), (0.01, 0.005, 0.05)),
    ),
    "heterophilous": _scores(
        _UNLIKE, usual((0.5, 0.2, 0.8), (5e-4, 1e-5, 5e-3), (0.01, 0.005, 0.05))
    ),
}
_ALL = {"decay": "all"}
GAT_SCORES: dict[Kind, Space] = {
    "homophilous": _scores(
        (
            {"hidden": 64, "heads": 8, "output_heads": 1, **_ALL},
            {"hidden": 64, "heads": 8, "output_heads": 8, **_ALL},
            {"hidden": 32, "heads": 4, "output_heads": 1, **_ALL},
        ),
        usual((0.6, 0.5, 0.7), (5e-4, 1e-3, 1e-4), (0.005, 0.01, 0.02)),
    ),
    "heterophilous": _scores(
        tuple({**form, "heads": 8, **_ALL} for form in _UNLIKE),
        usual((0.6, 0.2, 0.5), (5e-4, 1e-5, 5e-3), (0.005, 0.01, 0.05)),
    ),
}
_OF_STEPS: Values = {"step_decay": (1e-2, 5e-4)}
# The depths, widths and λ that the original has on Cora, Citeseer and Pubmed; then on WebKB and
# Chameleon, where it has α too.
GCNII: dict[Kind, Space] = {
    "homophilous": Space(
        (
            {"max_steps": 64, "hidden": 64, "gcnii_lambda": 0.5, **_ALL},
            {"max_steps": 32, "hidden": 256, "gcnii_lambda": 0.6, **_ALL},
            {"max_steps": 16, "hidden": 256, "gcnii_lambda": 0.4, **_ALL},
        ),
        {**usual((0.6, 0.7, 0.5), (5e-4, 1e-3), (0.01, 0.005)), **_OF_STEPS},
    ),
    "heterophilous": Space(
        (
            {**RAW, "max_steps": 16, "alpha": 0.5, "gcnii_lambda": 1.0},
            {**RAW, "max_steps": 8, "alpha": 0.2, "gcnii_lambda": 1.5},
            {**RAW, "max_steps": 4, "alpha": 0.5, "gcnii_lambda": 1.5},
        ),
        {**usual((0.5, 0.2, 0.7), (5e-4, 1e-4, 1e-3), (0.01, 0.005, 0.05)), **_OF_STEPS},
    ),
}
# About the values of its original.
GRAND = both_kinds(
    tuple(
        {"max_steps": steps, "hidden": 32, "decay": "all", "consistency_forwards": 4}
        for steps in (5, 10)
    ),
    {
        "consistency": (1.0, 0.7),
        "consistency_temperature": (0.2, 0.5),
        "node_dropout": (0.5,),
        "dropout": (0.7, 0.5),
        "lr": (0.2, 0.05, 0.01),
    },
)
