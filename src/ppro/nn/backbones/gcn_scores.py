"""GCN whose steps carry class scores, so that one step is the original."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import product
from ppro.compute.features import Features
from ppro.compute.layers import glorot, zeros
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import spaces
from ppro.nn.backbones.base import STEP_SITE, LinearBackbone
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space

SECOND = STEP_SITE + 2
"""Dropout site of what the second layer sees: the same as of the rivals GCN and GAT."""


class GCNScores(LinearBackbone):
    """GCN (Kipf & Welling, 2017) whose second convolution goes on: h_k = Â h_{k-1}.

    h0 = drop(ReLU(Â drop(X) W1 + b1)) W2 are class scores, and ŷ = softmax(h̃ + b2). L = 1 is the
    original of two layers, weight by weight; a further step is a further hop and no layer, so
    nothing is lost where a node goes on or stops.
    """

    name: ClassVar[str] = "gcn-scores"
    title: ClassVar[str] = "GCN (scores)"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GCN_SCORES
    shareable: ClassVar[bool] = True
    hops_before: ClassVar[int] = 1

    alpha: float = 0.0

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.width = sizes.classes
        self.weight1 = glorot(sizes.rngs, sizes.features, own.hidden)
        self.bias1 = zeros(sizes.rngs, own.hidden)
        self.weight2 = glorot(sizes.rngs, own.hidden, sizes.classes)
        self.bias2 = zeros(sizes.rngs, sizes.classes)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """Return h0 of a graph without edges between nodes: the first convolution left out."""
        return self._scores(x.linear(self.weight1, noise), noise)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """drop(ReLU(Â drop(X) W1 + b1)) W2."""
        return self._scores(adjacency.matmul(x.linear(self.weight1, noise)), noise)

    def _scores(self, h: Tensor, noise: Noise | None) -> Tensor:
        h = self.dropout_all(F.relu(h + self.bias1.unsqueeze(1)), noise, SECOND)
        return product(h, self.weight2)

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """Â h, twice: nothing comes after it."""
        aggregate = adjacency.matmul(h)
        return aggregate, aggregate

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """h + b2."""
        return h + self.bias2.unsqueeze(1)

    def decayed(self) -> list[nn.Parameter]:
        """W1, as in the original."""
        return [self.weight1]
