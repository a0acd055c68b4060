"""What a search may choose from: every backbone, rival and strategy carries its choices."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Configuration = dict[str, Any]
Values = Mapping[str, tuple[Any, ...]]
Shapes = tuple[Mapping[str, Any], ...]

_OF_TRAINING = ("dropout", "weight_decay", "lr")


@dataclass(frozen=True)
class Space:
    """The choices of a method.

    Args:
        shapes: alternatives of the settings that shape the program (depth, width ...), of which
            runs of one batch must agree on one.
        values: choices of each setting that may differ between the runs of a batch. The first one
            is the published value, where there is one.
        alone: the shapes of a backbone without controllers, where they differ.
        wide: the spaces of a wide search: more shapes, each with values that suit it.
        ranges: settings of ``values`` that may be anything between two numbers in a search that
            can make use of it; :meth:`draw` takes the choices.
    """

    shapes: Shapes = ({},)
    values: Values = field(default_factory=dict)
    alone: Shapes = ()
    wide: tuple[Space, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def under(self, controllers: Values, *, alone: bool = False) -> Space:
        """Return the space of a backbone with the choices of a strategy.

        They come after the choices of the training, the order in which recorded searches drew.

        Args:
            alone: whether the strategy has no controllers.
        """
        keys = list(self.values)
        place = max((keys.index(key) + 1 for key in _OF_TRAINING if key in keys), default=0)
        before, after = ({k: self.values[k] for k in part} for part in (keys[:place], keys[place:]))
        shapes = self.alone if alone and self.alone else self.shapes
        return Space(shapes, {**before, **controllers, **after}, ranges=self.ranges)

    def with_values(self, more: Values) -> Space:
        """Return the same space with other choices of some settings, or of further ones."""
        return Space(self.shapes, {**self.values, **more}, ranges=self.ranges)

    def draw(self, number: int, seed: int = 0) -> list[Configuration]:
        """Return that many different configurations, fewer where the space has no more.

        Shapes take turns. The first configuration of a shape has the first choice of every value,
        the others are drawn at random.
        """
        return _take_turns(self._sources(seed), number)

    def size(self) -> int:
        """Return the number of different configurations."""
        count = len(self.shapes)
        for choices in self.values.values():
            count *= len(choices)
        return count

    def _sources(self, seed: int) -> list[Iterator[Configuration]]:
        return [
            self._of_shape(shape, random.Random(seed + i)) for i, shape in enumerate(self.shapes)
        ]

    def _of_shape(self, shape: Mapping[str, Any], rng: random.Random) -> Iterator[Configuration]:
        total = self.size() // len(self.shapes)
        codes = [0, *rng.sample(range(1, total), total - 1)] if total > 1 else [0]
        for code in codes:
            yield {**shape, **self._decode(code)}

    def _decode(self, code: int) -> Configuration:
        chosen: Configuration = {}
        for key, choices in self.values.items():
            code, index = divmod(code, len(choices))
            chosen[key] = choices[index]
        return chosen


def draw_in_turns(spaces: Sequence[Space], number: int, seed: int = 0) -> list[Configuration]:
    """Return configurations from several spaces, whose shapes take turns as in one."""
    sources = [source for i, s in enumerate(spaces) for source in s._sources(seed + 100 * i)]
    return _take_turns(sources, number)


def _take_turns(sources: list[Iterator[Configuration]], number: int) -> list[Configuration]:
    drawn: list[Configuration] = []
    while sources and len(drawn) < number:
        for source in list(sources):
            configuration = next(source, None)
            if configuration is None:
                sources.remove(source)
            elif len(drawn) < number:
                drawn.append(configuration)
    return drawn
