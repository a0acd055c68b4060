"""GAT: the weight of a neighbour is learned."""

from collections.abc import Mapping
from typing import ClassVar, cast

from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.attention import Attending, Attention, head_width
from ppro.compute.dense import product
from ppro.compute.features import Features
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import spaces
from ppro.nn.backbones.hidden import ClassifiedBackbone
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space


class GATSettings(NetworkSettings):
    """The settings of GAT."""

    heads: int = Field(default=8, ge=1, le=256, description="attention heads")


class GAT(ClassifiedBackbone, Attending):
    """Graph attention (Veličković et al., 2018), several heads side by side.

    In each head z_j = W h_j and ĥ_i = Σ_j a_ij z_j + b over the entries (i, j) of Â, where a_ij is
    the softmax over j of LeakyReLU(t·z_i + s·z_j); h_k = ELU(ĥ) of all heads, joined. As in the
    original, h and the coefficients are dropped. h0 = ELU(attention over drop(X) W_in) is a layer
    too, so L steps are L + 1 of them; and ŷ = softmax(drop(h̃) W_out + b_out).

    ``hidden`` is the width of all heads together.
    """

    name: ClassVar[str] = "gat"
    title: ClassVar[str] = "GAT"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GAT
    settings_class: ClassVar[type[NetworkSettings]] = GATSettings
    hops_before: ClassVar[int] = 1
    uses_weights: ClassVar[bool] = False

    def __init__(self, sizes: NetworkSizes, own: GATSettings) -> None:
        width = head_width(own.hidden, own.heads)
        super().__init__(sizes, own)
        self.first = Attention(sizes.rngs, sizes.features, own.heads, width)
        self.steps = nn.ModuleList(
            Attention(sizes.rngs, own.hidden, own.heads, width) for _ in range(own.max_steps)
        )

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """drop(X) W_in, which the first layer attends over."""
        return x.linear(self.first.weight, noise)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """ELU(attention over drop(X) W_in)."""
        return F.elu(self.attend(0, self.first, self.embed(x, noise), adjacency, noise))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = attention over drop(h) W, and ELU(ĥ)."""
        layer = cast(Attention, self.steps[k - 1])
        z = product(self.dropout_step(h, noise, k), layer.weight)
        aggregate = self.attend(k, layer, z, adjacency, noise)
        return aggregate, F.elu(aggregate)

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Σ_j ā_ij h0_j, ā being the mean coefficient of the first step's heads."""
        layer = cast(Attention, self.steps[0])
        return self.around(layer, product(h0, layer.weight), h0, adjacency)

    def decayed(self) -> list[nn.Parameter]:
        """W_in; the original decays all."""
        return [self.first.weight]
