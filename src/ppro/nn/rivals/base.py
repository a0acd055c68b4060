"""What all rivals share: they answer with logits, at full depth, every node alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from ppro.compute.layers import Dropping
from ppro.compute.noise import Noise
from ppro.nn.network import Inputs, Network, Outcome, Rows
from ppro.nn.part import NetworkSizes

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


class Baseline(Dropping, Network):
    """A rival of PPro, trained by the same trainer on the same splits.

    Attributes:
        max_steps: L, reported as the step of every node.
    """

    max_steps: int = 0

    @classmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """Return the rival of these settings, one per run, with its initial weights."""
        build: Callable[..., Self] = cls
        return build(sizes, settings[0].network)

    @abstractmethod
    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Logits of the rows. Shape ``[R, m, c]``."""

    def forward(self, inputs: Inputs, rows: Rows, noise: Noise | None = None) -> Outcome:
        """Return the logits, with full depth and equal priority for every node."""
        if noise is not None and noise.edge_rates is not None:
            inputs = inputs.with_dropped_edges(noise)
        logits = self.logits(inputs, rows, noise)
        steps = torch.full_like(rows.nodes, self.max_steps)
        return Outcome(logits, logits.detach(), steps, torch.ones_like(rows.valid))
