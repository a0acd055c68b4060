"""GCN, with a convolution before the steps and a linear layer after them."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.features import Features
from ppro.compute.layers import RunLinear
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import spaces
from ppro.nn.backbones.hidden import HiddenBackbone
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space


class GCN(HiddenBackbone):
    """Graph convolutions (Kipf & Welling, 2017): h_k = ReLU(Â drop(h_{k-1}) W_k + b_k).

    h0 = ReLU(Â drop(X) W_in + b_in) is one too, so L steps are L + 1 convolutions; and
    ŷ = softmax(drop(h̃) W_out + b_out).
    """

    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "GCN"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GCN
    shareable: ClassVar[bool] = True
    hops_before: ClassVar[int] = 1

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__(sizes, own)
        self.steps = nn.ModuleList(
            RunLinear(sizes.rngs, own.hidden, own.hidden) for _ in range(own.max_steps)
        )

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """drop(X) W_in, which the first convolution takes."""
        return x.linear(self.weight_in, noise)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """ReLU(Â drop(X) W_in + b_in)."""
        return F.relu(adjacency.matmul(self.embed(x, noise)) + self.bias_in.unsqueeze(1))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â drop(h) and ReLU(ĥ W_k + b_k)."""
        aggregate = adjacency.matmul(self.dropout_step(h, noise, k))
        return aggregate, F.relu(self.steps[k - 1](aggregate))
