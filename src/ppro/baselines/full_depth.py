"""Rivals that are a backbone of PPro and nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch

from ppro.backbones.base import Backbone
from ppro.model import PProNetwork

if TYPE_CHECKING:
    from ppro.config import Settings


class FullDepth(PProNetwork):
    """A backbone without controllers: every node takes all L steps, ŷ = classify(h_L).

    Attributes:
        made_of: the backbone.
        fixed: the settings that make it the published network, whatever the others say.
    """

    made_of: ClassVar[type[Backbone]]
    fixed: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def from_settings(
        cls,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        settings: Sequence[Settings],
    ) -> Self:
        """The backbone of these settings, with the initial weights of every run."""
        first = settings[0].replace(**cls.fixed)
        backbone = cls.made_of.from_settings(rngs, num_features, num_classes, first)
        return cls.around(backbone, rngs, num_classes, settings)
