"""What GCN, GCNII and GAT share: a layer that embeds before their steps, one that classifies after.

A node may stop after any step, so all embeddings have one width and the classes come from a layer
of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.backbones.base import HIDDEN_SITE, Backbone, dropout
from ppro.features import Features
from ppro.layers import RunLinear, glorot, zeros
from ppro.noise import Noise


class HiddenBackbone(Backbone):
    """h0 = act(drop(X) W_in + b_in), steps, then ŷ = softmax(drop(h̃) W_out + b_out)."""

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        hidden: int,
    ) -> None:
        super().__init__()
        self.width = hidden
        self.weight_in, self.bias_in = glorot(rngs, num_features, hidden), zeros(rngs, hidden)
        self.output = RunLinear(rngs, hidden, num_classes)

    @staticmethod
    def activation(h: Tensor) -> Tensor:
        """What follows the embedding layer."""
        return F.relu(h)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """act(drop(X) W_in + b_in)."""
        return self.activation(x.linear(self.weight_in, noise) + self.bias_in.unsqueeze(1))

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """drop(h) W_out + b_out."""
        logits: Tensor = self.output(dropout(h, rows, noise, HIDDEN_SITE))
        return logits

    def decayed(self) -> list[nn.Parameter]:
        """W_in, as the original GCN decays its first layer; GCNII's and GAT's decay all."""
        return [self.weight_in]
