"""GCNII: graph convolutions that can be deep."""

from __future__ import annotations

import math
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


class GCNII(Backbone):
    """Initial residual and identity mapping (Chen et al., 2020).

    h_k = ReLU(((1-α) Â drop(h_{k-1}) + α h_0) ((1-β_k) I + β_k W_k)), β_k = log(λ/k + 1), with
    h0 = ReLU(drop(X) W_in + b_in) and ŷ = softmax(drop(h̃) W_out + b_out).

    Args:
        alpha: α, the share of h0 in every step.
        gcnii_lambda: λ.
    """

    takes: ClassVar[tuple[str, ...]] = ("hidden", "max_steps", "alpha", "gcnii_lambda")

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        *,
        hidden: int,
        max_steps: int,
        alpha: float,
        gcnii_lambda: float,
    ) -> None:
        super().__init__()
        self.width = hidden
        self.residual, self.gcnii_lambda = alpha, gcnii_lambda
        self.weight_in, self.bias_in = glorot(rngs, num_features, hidden), zeros(rngs, hidden)
        self.steps = nn.ParameterList(glorot(rngs, hidden, hidden) for _ in range(max_steps))
        self.output = RunLinear(rngs, hidden, num_classes)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """ReLU(drop(X) W_in + b_in)."""
        return F.relu(x.linear(self.weight_in, noise) + self.bias_in.unsqueeze(1))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â drop(h); with u = (1-α) ĥ + α h0, ReLU((1-β_k) u + β_k u W_k)."""
        aggregate = adjacency.matmul(dropout_step(h, noise, k))
        u = torch.lerp(aggregate, h0, self.residual)
        beta = math.log(self.gcnii_lambda / k + 1)
        return aggregate, F.relu(torch.baddbmm(u, u, self.steps[k - 1], beta=1 - beta, alpha=beta))

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """drop(h) W_out + b_out."""
        logits: Tensor = self.output(dropout(h, rows, noise, HIDDEN_SITE))
        return logits

    def decayed(self) -> list[nn.Parameter]:
        """W_in; the original decays all, the W_k the most."""
        return [self.weight_in]
