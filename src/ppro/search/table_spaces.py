"""What the searches of Tables 3 and 4, of the paper's design and of Actor may choose from.

A backbone alone and the same backbone under a strategy have the same learning rates, dropouts and
decays. Alone, a backbone may choose its depth from one step on; a strategy has at least four, and
its controllers are offered as the paper teaches them and as ones that compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ppro.parts import STRATEGIES
from ppro.parts.choices import Kind
from ppro.search.methods import ALONE, Method
from ppro.settings.settings import PPRO
from ppro.settings.space import Shapes, Space, Values, usual

Shape = Mapping[str, Any]
_ALL: Shape = {"decay": "all"}
WIDE = 256
_HEADS: Shape = {**_ALL, "hidden": 64, "heads": 8}
_OF_PAPER = ("epsilon",)
"""The settings of the paper's controllers that these searches choose, from two values each."""


def _controlled(
    method: Method, kind: Kind, shapes: Shapes, values: Values, comparing: Shapes
) -> tuple[Space, ...]:
    """Return shapes under the paper's controllers, and some of them under ones that compare."""
    strategy = STRATEGIES.get(method.settings["strategy"])
    own = strategy.values.get(kind, {})
    chosen = {key: own[key][:2] for key in _OF_PAPER if key in own}
    compare = tuple({**shape, "teaching": "compare"} for shape in comparing)
    return Space(shapes, {**values, **chosen}), Space(compare, values)


def _starting(shapes: Sequence[Shape], *starts: str) -> Shapes:
    """Return shapes with the starts of controllers that compare, one after the other."""
    return tuple({**shape, "start": start} for shape, start in zip(shapes, starts, strict=True))


_GCN: Shapes = ({"hidden": 64}, {"hidden": 64, **_ALL})
_GAT: Shapes = ({**_HEADS, "output_heads": 1}, {**_HEADS, "output_heads": 8})
_OF_GCN = usual((0.5, 0.7, 0.8), (5e-4, 1e-3, 5e-3), (0.01, 0.05))
_OF_GAT = usual((0.6, 0.5, 0.7), (5e-4, 1e-3), (0.005, 0.01))
_OF_GCNII: Values = {
    **usual((0.6, 0.7, 0.5), (5e-4, 1e-3), (0.01, 0.005)),
    "step_decay": (0.01, 5e-4),
}
# Depth and λ of the original on Cora, Citeseer and Pubmed, and its width on the last.
_GCNII: Shapes = (
    {"max_steps": 64, "hidden": 64, "gcnii_lambda": 0.5, **_ALL},
    {"max_steps": 32, "hidden": 64, "gcnii_lambda": 0.6, **_ALL},
    {"max_steps": 16, "hidden": 256, "gcnii_lambda": 0.4, **_ALL},
)
_VALUES: Mapping[str, Values] = {
    **dict.fromkeys(("gcn", "gcn-scores"), _OF_GCN),
    **dict.fromkeys(("gat", "gat-scores"), _OF_GAT),
    "gcnii": _OF_GCNII,
}


def _at(steps: int, shapes: Shapes) -> Shapes:
    return tuple({**shape, "max_steps": steps} for shape in shapes)


def _network(method: Method) -> str:
    """Return the name of the backbone, or of the rival."""
    model = str(method.settings["model"])
    return str(method.settings["backbone"]) if model == PPRO else model


def backbones(method: Method, kind: Kind) -> tuple[Space, ...]:
    """Table 3: the original networks, and PPro on backbones that lose nothing against them."""
    name = _network(method)
    values = _VALUES.get(name)
    if values is None or kind != "homophilous":
        return method.spaces(kind)
    forms = {"gcn": _GCN, "gat": _GAT}.get(name.removesuffix("-scores"))
    if method.settings["model"] != PPRO:
        return (Space(_GCNII if forms is None else _at(2, forms), values),)
    alone = method.settings["strategy"] == ALONE
    if forms is None:
        # Blind backbones quadruple the work, so neither the deepest nor the widest is among them.
        comparing = _starting((_GCNII[1], _GCNII[1]), "held", "explore")
        return (
            (Space(_GCNII, values),)
            if alone
            else _controlled(method, kind, _GCNII, values, comparing)
        )
    if alone:
        return (Space((*_at(1, forms), *_at(4, forms[:1])), values),)
    deep = _at(4, forms)
    return _controlled(method, kind, deep, values, _starting(deep, "held", "explore"))


_OF_DEEP_GCN = usual((0.5, 0.2, 0.0, 0.8), (5e-4, 5e-5), (0.01, 0.005, 0.002))
_OF_JKNET = usual((0.8, 0.5, 0.2), (5e-4, 1e-4, 1e-3), (0.005, 0.01, 0.02))
_OF_APPNP = usual((0.8, 0.5, 0.7), (5e-4, 1e-3, 5e-3), (0.01, 0.05))
_JKNET: Shapes = (
    {"hidden": 64, "jumping": "cat", **_ALL},
    {"hidden": 64, "jumping": "max", **_ALL},
)
_GCNII_DEEP: Shapes = (
    {"hidden": 64, "gcnii_lambda": 0.5, **_ALL},
    {"hidden": WIDE, "gcnii_lambda": 0.4, **_ALL},
)
WIDE_UP_TO = 16
"""Steps up to which GCNII may be wide, as in the original: more would not fit a GPU."""
_APPNP: Shapes = ({"form": "hidden"}, {"form": "class"})
_DEPTHS: Mapping[str, Space] = {
    "gcn": Space(_GCN, _OF_DEEP_GCN),
    "jknet": Space(_JKNET, _OF_JKNET),
    "jknet-drop": Space(_JKNET, {"edge_dropout": (0.1, 0.3, 0.5, 0.8), **_OF_JKNET}),
    "gcnii": Space(_GCNII_DEEP, _OF_GCNII),
    "gcnii-star": Space(_GCNII_DEEP, _OF_GCNII),
    "appnp": Space(_APPNP, _OF_APPNP),
}
"""Plain layers of GCN, JKNet's as its original joins them: none has a residual or a norm."""


def depth(method: Method, kind: Kind, steps: int) -> tuple[Space, ...]:
    """Table 4: every method with settings for one depth."""
    space = _DEPTHS.get(_network(method))
    if space is None or kind != "homophilous":
        return tuple(of_depth(found, steps) for found in method.spaces(kind))
    if steps > WIDE_UP_TO:
        space = replace(space, shapes=tuple(s for s in space.shapes if s.get("hidden") != WIDE))
    space = of_depth(space, steps)
    if method.settings["model"] != PPRO or method.settings["strategy"] == ALONE:
        return (space,)
    comparing = _starting(space.shapes[:1], "held")
    return _controlled(method, kind, space.shapes, space.values, comparing)


def of_depth(space: Space, steps: int) -> Space:
    """Return a space whose shapes all have one depth, those that have become equal once."""
    shapes = _at(steps, space.shapes)
    return Space(tuple(s for i, s in enumerate(shapes) if s not in shapes[:i]), space.values)


_PATIENT: Shape = {"patience": 200}
_HIDDEN, _CLASS = ({**_PATIENT, "form": form, "max_steps": 10} for form in ("hidden", "class"))
_FAR_FROM: Shape = {**_CLASS, "alpha": 0.2}
_RAW: Shape = {**_PATIENT, "feature_norm": "none", **_ALL}
_OF_FEW_LABELS: Values = {
    **usual((0.8, 0.5, 0.7), (5e-4, 1e-3, 5e-3), (0.01, 0.05)),
    "edge_dropout": (0.0, 0.3, 0.5),
}
_OF_MANY_LABELS = usual((0.5, 0.2, 0.7), (5e-4, 5e-3, 5e-5), (0.01, 0.05))
_UNLIKE: Shapes = (
    {**_RAW, "concat": True, "alpha": 0.0},
    {**_RAW, "self_loops": False, "alpha": 0.0},
    {**_RAW, "form": "class", "alpha": 0.9},
)
_LAMBDA2: Values = {"lambda2": (1.0, 0.1)}


def _citation(deeper: Shape) -> Shapes:
    return (_HIDDEN, _CLASS, _FAR_FROM, deeper)


def design(method: Method, kind: Kind) -> tuple[Space, ...]:
    """Return APPNP as the paper has it, without consistency: the backbone alone, or a strategy."""
    alone = method.settings["strategy"] == ALONE
    if kind == "homophilous":
        deeper = {**_HIDDEN, "max_steps": 2 if alone else 16}
        values, shapes = _OF_FEW_LABELS, _citation(deeper)
    else:
        depths = (1, 2) if alone else (4,)
        shapes = tuple(shape for steps in depths for shape in _at(steps, _UNLIKE))
        values = _OF_MANY_LABELS
    if alone:
        return (Space(shapes, values),)
    own = STRATEGIES.get(method.settings["strategy"]).values.get(kind, {})
    chosen = {key: own[key][:2] for key in _OF_PAPER if key in own}
    return (Space(shapes, {**values, **chosen, **_LAMBDA2}),)


_SCALED: Shape = {
    **{**_PATIENT, **_ALL, "concat": True, "feature_norm": "unit", "first_layer": "scaled"},
}
_FORMS_OF_ACTOR: Shapes = (_SCALED, {**_SCALED, "self_loops": False})
_OF_ACTOR: Values = {
    **usual((0.5, 0.6, 0.7), (5e-4, 1e-3), (0.05, 0.03)),
    "feature_dropout": (0.0,),
    "state_dropout": (0.0, 0.3),
}


def actor(method: Method, kind: Kind) -> tuple[Space, ...]:
    """Return features dropped apart, a first layer scaled to them, a skip from h0, decay of all."""
    if method.settings["model"] != PPRO:
        return method.spaces(kind)
    if method.settings["strategy"] == ALONE:
        shapes = tuple(shape for steps in (1, 2, 4) for shape in _at(steps, _FORMS_OF_ACTOR))
        return (Space(shapes, _OF_ACTOR),)
    deep = _at(4, _FORMS_OF_ACTOR)
    comparing = _starting(deep, "first", "explore")
    return _controlled(method, kind, deep, _OF_ACTOR, comparing)
