"""Full depth: the bare backbone."""

from typing import ClassVar

import torch
from torch import Tensor

from ppro.nn.strategies.base import Strategy


class FullDepth(Strategy):
    """Every row takes h_L; there is nothing to learn."""

    name: ClassVar[str] = "none"
    title: ClassVar[str] = "backbone alone"
    learns: ClassVar[bool] = False
    default_bias: ClassVar[float] = 4.0

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Take step L."""
        if last:
            self.h_tilde = h
            self.steps = torch.full_like(self.steps, k)
