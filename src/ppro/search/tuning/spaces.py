"""What ``ppro tune`` searches: a method's own space or the paper's grid, as Optuna sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from ppro.errors import SettingsError
from ppro.parts import STRATEGIES, nearest
from ppro.parts.choices import Kind
from ppro.search.grid import FIRST, GRID, OF_CONTROLLERS, PAPER
from ppro.search.methods import method_of
from ppro.settings.settings import Settings
from ppro.settings.space import Configuration, Space

SHAPE = "shape"
"""The name under which Optuna knows the choice of a program."""
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
        """Return everything that a trial suggests."""
        return {SHAPE: CategoricalDistribution(tuple(self.shapes)), **self.values}

    @property
    def size(self) -> int | None:
        """Return the number of different configurations; None where a range has no end of them."""
        each = self.size_of_shape
        return None if each is None else each * len(self.shapes)

    @property
    def size_of_shape(self) -> int | None:
        """Return the number of different configurations of one shape, or None as for ``size``."""
        count = 1
        for choices in self.values.values():
            if not isinstance(choices, CategoricalDistribution):
                return None
            count *= len(choices.choices)
        return count

    def begin_with(self) -> list[Configuration]:
        """Return what to try first: of every shape the published values, where there are some."""
        return [{SHAPE: shape, **self.first} for shape in self.shapes]

    def changes(self, params: Mapping[str, Any]) -> Configuration:
        """Return the settings that a trial's choices stand for."""
        values = {key: value for key, value in params.items() if key != SHAPE}
        return {**self.shapes[params[SHAPE]], **values}


def search_space(space: Space, fixed: Mapping[str, Any]) -> SearchSpace:
    """Return a space as Optuna sees it, without the settings that the user has fixed."""
    shapes = _named([_without(shape, fixed) for shape in space.shapes])
    values = _without(space.values, fixed)
    return SearchSpace(
        shapes,
        {key: _distribution(key, choices, space) for key, choices in values.items()},
        {key: choices[0] for key, choices in values.items()},
    )


def _distribution(key: str, choices: tuple[Any, ...], space: Space) -> BaseDistribution:
    if key in space.ranges:
        return FloatDistribution(*space.ranges[key])
    return CategoricalDistribution(choices)


def named_space(name: str, settings: Settings, fixed: Mapping[str, Any]) -> SearchSpace:
    """Return a space by its name: the method's own for one kind of graph, or the paper's grid.

    Args:
        settings: those that name the method.
        fixed: settings that are not searched.

    Raises:
        SettingsError: there is none of that name, or it leaves nothing to choose.
    """
    if name == PAPER:
        learns = STRATEGIES.get(settings.strategy).learns
        found = search_space(GRID.with_values(OF_CONTROLLERS) if learns else GRID, fixed)
        usual = {k: v for k, v in FIRST.items() if k in found.first}
        found = replace(found, first={**found.first, **usual})
    elif name in NAMES:
        kind: Kind = "homophilous" if name == "homophilous" else "heterophilous"
        (own,) = method_of(settings).spaces(kind)
        found = search_space(own, fixed)
    else:
        raise SettingsError(f"--space {name}: unknown; {nearest(name, NAMES)}")
    if not found.values and len(found.shapes) == 1:
        raise SettingsError("--set fixes every setting of the space; leave some to be searched")
    return found


def _without(choices: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in choices.items() if key not in fixed}


def _named(shapes: list[Configuration]) -> dict[str, Configuration]:
    """Return shapes by what tells them apart; equal ones once."""
    shared = {
        key
        for key in shapes[0]
        if all(key in shape and shape[key] == shapes[0][key] for shape in shapes)
    }
    return {
        " ".join(f"{k}={v}" for k, v in shape.items() if k not in shared) or "default": shape
        for shape in shapes
    }
