"""What all rivals share: they answer with logits, at full depth, every node alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import torch
from torch import Tensor

from ppro.layers import Dropping
from ppro.network import Inputs, Network, Outcome, Rows
from ppro.noise import Noise

if TYPE_CHECKING:
    from ppro.config import Settings


class Baseline(Dropping, Network):
    """A rival of PPro, trained by the same trainer on the same splits.

    Attributes:
        takes: the settings that the constructor takes by their names, after the generators, the
            number of features and the number of classes.
        max_steps: L, reported as the step of every node.
    """

    takes: ClassVar[tuple[str, ...]] = ("hidden",)

    max_steps: int = 0

    @classmethod
    def from_settings(
        cls,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        settings: Sequence[Settings],
    ) -> Self:
        """The rival of these settings, one per run, with its initial weights."""
        chosen = {name: getattr(settings[0], name) for name in cls.takes}
        build: Callable[..., Self] = cls
        return build(rngs, num_features, num_classes, **chosen)

    @abstractmethod
    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Logits of the rows. Shape ``[R, m, c]``."""

    def forward(self, inputs: Inputs, rows: Rows, noise: Noise | None = None) -> Outcome:
        """The logits, with full depth and equal priority for every node."""
        if noise is not None and noise.edge_rates is not None:
            inputs = inputs.with_dropped_edges(noise)
        logits = self.logits(inputs, rows, noise)
        steps = torch.full_like(rows.nodes, self.max_steps)
        return Outcome(logits, logits.detach(), steps, torch.ones_like(rows.valid))
