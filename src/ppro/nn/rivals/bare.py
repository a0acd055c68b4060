"""Rivals that are a backbone of PPro and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ppro.nn.backbones.base import Backbone
from ppro.nn.batched import PProNetwork
from ppro.nn.part import NetworkSizes
from ppro.settings.groups import NetworkSettings

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


class BareBackbone(PProNetwork):
    """A backbone without controllers: every node takes all L steps, ŷ = classify(h_L).

    Attributes:
        made_of: the backbone.
        fixed: the settings that make it the published network, whatever the others say.
    """

    made_of: ClassVar[type[Backbone]]
    fixed: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        cls.settings_class = cls.made_of.settings_class
        cls.uses_weights = cls.made_of.uses_weights
        super().__init_subclass__(**options)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """As of the backbone."""
        return cls.made_of.takes_blocks(settings.model_copy(update=dict(cls.fixed)))

    @classmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """Return the backbone of these settings, with the initial weights of every run."""
        own = settings[0].network.model_copy(update=dict(cls.fixed))
        made: Callable[..., Backbone] = cls.made_of
        return cls.around(made(sizes, own), sizes, settings)
