"""GCNII: graph convolutions that can be deep."""

import math
from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.layers import glorot
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import spaces
from ppro.nn.backbones.hidden import HiddenBackbone
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings, Positive, Share
from ppro.settings.space import Space


class GCNIISettings(NetworkSettings):
    """The settings of GCNII."""

    alpha: Share = Field(default=0.1, description="the share α of h_0 in a step")
    gcnii_lambda: Positive = Field(
        default=0.5, description="λ: step k is an identity map but for log(λ/k + 1)"
    )


class GCNII(HiddenBackbone):
    """Initial residual and identity mapping (Chen et al., 2020).

    h_k = ReLU(((1-α) Â drop(h_{k-1}) + α h_0) ((1-β_k) I + β_k W_k)), β_k = log(λ/k + 1), with
    h0 = ReLU(drop(X) W_in + b_in) and ŷ = softmax(drop(h̃) W_out + b_out).

    α is ``alpha``, λ is ``gcnii_lambda``.
    """

    name: ClassVar[str] = "gcnii"
    title: ClassVar[str] = "GCNII"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GCNII
    shareable: ClassVar[bool] = True
    settings_class: ClassVar[type[NetworkSettings]] = GCNIISettings

    def __init__(self, sizes: NetworkSizes, own: GCNIISettings) -> None:
        super().__init__(sizes, own)
        self.residual, self.gcnii_lambda = own.alpha, own.gcnii_lambda
        self.steps = nn.ParameterList(
            glorot(sizes.rngs, own.hidden, own.hidden) for _ in range(own.max_steps)
        )

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â drop(h); with u = (1-α) ĥ + α h0, ReLU((1-β_k) u + β_k u W_k)."""
        aggregate = adjacency.matmul(self.dropout_step(h, noise, k))
        u = torch.lerp(aggregate, h0, self.residual)
        beta = math.log(self.gcnii_lambda / k + 1)
        return aggregate, F.relu(torch.baddbmm(u, u, self.steps[k - 1], beta=1 - beta, alpha=beta))

    def between(self) -> list[nn.Parameter]:
        """W_k, whose decay the original chooses apart from that of the outer layers."""
        return list(self.steps)
