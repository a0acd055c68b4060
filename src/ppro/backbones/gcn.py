"""GCN between two linear layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.backbones.hidden import HiddenBackbone
from ppro.layers import RunLinear
from ppro.noise import Noise
from ppro.propagation import Adjacency


class GCN(HiddenBackbone):
    """Graph convolutions (Kipf & Welling, 2017): h_k = ReLU(drop(Â h_{k-1}) W_k + b_k).

    h0 = ReLU(drop(X) W_in + b_in), and ŷ = softmax(drop(h̃) W_out + b_out).
    """

    takes: ClassVar[tuple[str, ...]] = ("hidden", "max_steps")

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        *,
        hidden: int,
        max_steps: int,
    ) -> None:
        super().__init__(rngs, num_features, num_classes, hidden)
        self.steps = nn.ModuleList(RunLinear(rngs, hidden, hidden) for _ in range(max_steps))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â h and ReLU(drop(ĥ) W_k + b_k)."""
        aggregate = adjacency.matmul(h)
        return aggregate, F.relu(self.steps[k - 1](self.dropout_step(aggregate, noise, k)))
