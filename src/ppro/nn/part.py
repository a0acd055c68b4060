"""What settings, commands, tables and estimates ask of the class of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


@dataclass(frozen=True)
class NetworkSizes:
    """What a network is made for, whatever its settings.

    Args:
        rngs: one generator of initial weights for each run.
        features: number of features of a node.
        classes: number of classes.
    """

    rngs: Sequence[torch.Generator]
    features: int
    classes: int


class Part:
    """A backbone or a rival, as a class: what it is called, set by and searched over.

    Attributes:
        name: what commands and files call it; a subclass with a name is known by it.
        title: what tables call it.
        note: what a reader of its numbers must know.
        settings_class: its own settings, which its constructor takes.
        spaces: what a search may choose from, on either kind of graph.
        keeps_steps: whether a pass keeps the rows of every step.
        uses_weights: whether the weights of edges count.
        uses_direction: whether edges may be read one way.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    note: ClassVar[str] = ""
    settings_class: ClassVar[type[NetworkSettings]] = NetworkSettings
    spaces: ClassVar[Mapping[Kind, Space]] = {}
    keeps_steps: ClassVar[bool] = False
    uses_weights: ClassVar[bool] = True
    uses_direction: ClassVar[bool] = True

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse settings under which this network cannot train, with a ValueError."""
        if settings.inputs.direction != "both" and not cls.uses_direction:
            raise ValueError(
                f"direction: {cls.name} pairs nodes whichever way their edges go; leave it out"
            )

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Tell whether features pass through in blocks from end to end, so may stay on disk."""
        return False

    @classmethod
    def propagated_width(cls, settings: NetworkSettings, features: int, classes: int) -> int:
        """Return how many numbers of a node propagate."""
        return classes if cls.takes_blocks(settings) else settings.hidden

    def decayed(self) -> list[nn.Parameter]:
        """Return the part of θ that weight decay acts on where ``decay`` is "first"."""
        return []

    def between(self) -> list[nn.Parameter]:
        """Return the part of θ that ``step_decay`` acts on: the layers of the steps."""
        return []

    def statistics(self) -> list[nn.Parameter]:
        """Return the part of θ that follows the data instead of a gradient; nothing decays it."""
        return []
