"""Rivals that are a backbone of PPro and nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch

from ppro.nn.backbones.base import Backbone
from ppro.nn.batched import PProNetwork
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
        super().__init_subclass__(**options)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """As of the backbone."""
        return cls.made_of.takes_blocks(settings.model_copy(update=dict(cls.fixed)))

    @classmethod
    def from_settings(
        cls,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        settings: Sequence[Settings],
    ) -> Self:
        """The backbone of these settings, with the initial weights of every run."""
        own = settings[0].network.model_copy(update=dict(cls.fixed))
        backbone = cls.made_of.from_settings(rngs, num_features, num_classes, own)
        return cls.around(backbone, rngs, num_classes, settings)
