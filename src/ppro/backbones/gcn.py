"""GCN between two linear layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.backbones.base import HIDDEN_SITE, Backbone, dropout, dropout_step
from ppro.features import Features
from ppro.layers import RunLinear, glorot, zeros
from ppro.noise import Noise
from ppro.propagation import Adjacency


class GCN(Backbone):
    """Graph convolutions (Kipf & Welling, 2017): h_k = ReLU(drop(Â h_{k-1}) W_k + b_k).

    h0 = ReLU(drop(X) W_in + b_in), and ŷ = softmax(drop(h̃) W_out + b_out): a node may stop after
    any step, so all embeddings have one width and the classes come from a layer of their own.
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
        super().__init__()
        self.width = hidden
        self.weight_in, self.bias_in = glorot(rngs, num_features, hidden), zeros(rngs, hidden)
        self.steps = nn.ModuleList(RunLinear(rngs, hidden, hidden) for _ in range(max_steps))
        self.output = RunLinear(rngs, hidden, num_classes)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """ReLU(drop(X) W_in + b_in)."""
        return F.relu(x.linear(self.weight_in, noise) + self.bias_in.unsqueeze(1))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â h and ReLU(drop(ĥ) W_k + b_k)."""
        aggregate = adjacency.matmul(h)
        return aggregate, F.relu(self.steps[k - 1](dropout_step(aggregate, noise, k)))

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """drop(h) W_out + b_out."""
        logits: Tensor = self.output(dropout(h, rows, noise, HIDDEN_SITE))
        return logits

    def decayed(self) -> list[nn.Parameter]:
        """W_in, as the original decays its first layer."""
        return [self.weight_in]
