"""What GCN, GCNII and GAT share: a layer that classifies after the steps, and mostly one before.

A node may stop after any step, so all embeddings have one width and the classes come from a layer
of their own.
"""

from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.features import Features
from ppro.compute.layers import RunLinear, glorot, zeros
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.base import HIDDEN_SITE, Backbone, dropout
from ppro.nn.part import NetworkSizes
from ppro.settings.groups import NetworkSettings


class ClassifiedBackbone(Backbone):
    """Steps of one width, then ŷ = softmax(drop(h̃) W_out + b_out)."""

    hops: ClassVar[int | None] = 1

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.width = own.hidden
        self.output = RunLinear(sizes.rngs, own.hidden, sizes.classes)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """drop(h) W_out + b_out."""
        logits: Tensor = self.output(dropout(h, rows, noise, HIDDEN_SITE))
        return logits


class HiddenBackbone(ClassifiedBackbone):
    """h0 = ReLU(drop(X) W_in + b_in) before the steps."""

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__(sizes, own)
        self.weight_in = glorot(sizes.rngs, sizes.features, own.hidden)
        self.bias_in = zeros(sizes.rngs, own.hidden)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """ReLU(drop(X) W_in + b_in)."""
        return F.relu(x.linear(self.weight_in, noise) + self.bias_in.unsqueeze(1))

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Â h0; the first step aggregates drop(h0)."""
        return aggregate if noise is None else adjacency.matmul(h0)

    def decayed(self) -> list[nn.Parameter]:
        """W_in, as the original GCN decays its first layer; GCNII's decays all."""
        return [self.weight_in]
