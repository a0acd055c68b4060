"""What ``ppro tune`` searches: a method's own space or the paper's grid, as Optuna sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
)

from ppro.errors import SettingsError
from ppro.paper.methods import METHODS, Method
from ppro.parts import nearest
from ppro.parts.choices import Kind
from ppro.settings.settings import Settings
from ppro.settings.space import Configuration, Space

SHAPE = "shape"
"""The name under which Optuna knows the choice of a program."""
PAPER = "paper"
NAMES = (*get_args(Kind), PAPER)


@dataclass(frozen=True)
class SearchSpace:
    """The choices of a search.

    Args:
        shapes: alternatives of the settings that shape the program, each by a name for readers.
        values: what each setting that may differ inside a batch is drawn from.
        first: the value of each to begin with.
    """

    shapes: Mapping[str, Configuration]
    values: Mapping[str, BaseDistribution]
    first: Configuration

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """Everything that a trial suggests."""
        return {SHAPE: CategoricalDistribution(tuple(self.shapes)), **self.values}

    @property
    def size(self) -> int | None:
        """The number of different configurations; None where a range makes them countless."""
        each = self.size_of_shape
        return None if each is None else each * len(self.shapes)

    @property
    def size_of_shape(self) -> int | None:
        """The number of different configurations of one shape; None where they are countless."""
        count = 1
        for choices in self.values.values():
            if not isinstance(choices, CategoricalDistribution):
                return None
            count *= len(choices.choices)
        return count

    def begin_with(self) -> list[Configuration]:
        """What to try first: of every shape the published values, where there are some."""
        return [{SHAPE: shape, **self.first} for shape in self.shapes]

    def changes(self, params: Mapping[str, Any]) -> Configuration:
        """The settings that a trial's choices stand for."""
        values = {key: value for key, value in params.items() if key != SHAPE}
        return {**self.shapes[params[SHAPE]], **values}


def search_space(space: Space, fixed: Mapping[str, Any]) -> SearchSpace:
    """A method's space; settings that the user has fixed are no longer searched."""
    shapes = _named([_without(shape, fixed) for shape in space.shapes])
    values = _without(space.values, fixed)
    return SearchSpace(
        shapes,
        {key: CategoricalDistribution(choices) for key, choices in values.items()},
        {key: choices[0] for key, choices in values.items()},
    )


def paper_space(fixed: Mapping[str, Any], *, controllers: bool) -> SearchSpace:
    """The grid that the paper states; depth and form are not in it and stay as they are.

    Args:
        controllers: whether λ1, λ2 and ε matter.
    """
    values: dict[str, BaseDistribution] = {
        "lr": CategoricalDistribution((0.005, 0.01, 0.05, 0.1)),
        "dropout": FloatDistribution(0.0, 0.9),
        "weight_decay": CategoricalDistribution((1e-5, 5e-4, 1e-4, 5e-3, 1e-3)),
    }
    first: Configuration = {"lr": 0.01, "dropout": 0.5, "weight_decay": 5e-4}
    if controllers:
        penalties = CategoricalDistribution((0.01, 0.1, 1.0, 10.0, 100.0))
        values |= {"lambda1": penalties, "lambda2": penalties}
        values["epsilon"] = FloatDistribution(0.1, 0.9)
        first |= {"lambda1": 1.0, "lambda2": 1.0, "epsilon": 0.5}
    shapes = [_without({"patience": patience}, fixed) for patience in (100, 200)]
    return SearchSpace(_named(shapes), _without(values, fixed), _without(first, fixed))


def named_space(name: str, settings: Settings, fixed: Mapping[str, Any]) -> SearchSpace:
    """A space by its name: the method's own for one kind of graph, or the paper's grid.

    Args:
        settings: those that name the method.
        fixed: settings that are not searched.

    Raises:
        SettingsError: there is none of that name, or it leaves nothing to choose.
    """
    if name == PAPER:
        found = paper_space(fixed, controllers=settings.strategy != "none")
    elif name in NAMES:
        kind: Kind = "homophilous" if name == "homophilous" else "heterophilous"
        found = search_space(method_of(settings).space(kind), fixed)
    else:
        raise SettingsError(f"--space {name}: unknown; {nearest(name, NAMES)}")
    if not found.values and len(found.shapes) == 1:
        raise SettingsError("--set fixes every setting of the space; leave some to be searched")
    return found


def method_of(settings: Settings) -> Method:
    """The method whose space is searched.

    Raises:
        SettingsError: it has none.
    """
    wanted: dict[str, str] = {"model": settings.model}
    if settings.model == "ppro":
        wanted |= {"backbone": settings.backbone, "strategy": settings.strategy}
    for method in METHODS.values():
        if method.settings == wanted:
            return method
    raise SettingsError(
        f"{settings.strategy} on {settings.backbone} has no search space of its own; "
        "use --space paper"
    )


def _without(choices: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in choices.items() if key not in fixed}


def _named(shapes: list[Configuration]) -> dict[str, Configuration]:
    """Shapes by what tells them apart; equal ones once."""
    shared = {
        key
        for key in shapes[0]
        if all(key in shape and shape[key] == shapes[0][key] for shape in shapes)
    }
    return {
        " ".join(f"{k}={v}" for k, v in shape.items() if k not in shared) or "default": shape
        for shape in shapes
    }
