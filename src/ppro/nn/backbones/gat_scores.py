"""GAT whose steps carry class scores, so that one step is the original."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.attention import Attending, Attention, head_width
from ppro.compute.dense import product
from ppro.compute.features import Features
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import spaces
from ppro.nn.backbones.base import Backbone
from ppro.nn.backbones.gat import GATSettings
from ppro.nn.backbones.gcn_scores import SECOND
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space


class GATScoresSettings(GATSettings):
    """The settings of a GAT whose last layer gives class scores."""

    output_heads: int = Field(
        default=1,
        ge=1,
        le=256,
        description="attention heads of the last layer, whose mean gives the classes; the original "
        "has 8 on Pubmed, else 1",
    )


class GATScores(Backbone, Attending):
    """GAT (Veličković et al., 2018) whose second layer goes on with the attention that it has.

    H = ELU(attention over drop(X) W1), heads side by side, and h0 = drop(H) W2 are class scores in
    each of the ``output_heads``. In every head a_ij are the coefficients of h0, and
    h_k = Σ_j drop(a_ij) h_{k-1,j}; ŷ = softmax(mean of h̃ over the heads + b). L = 1 is the original
    of two layers, weight by weight.
    """

    name: ClassVar[str] = "gat-scores"
    title: ClassVar[str] = "GAT (scores)"
    uses_weights: ClassVar[bool] = False
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GAT_SCORES
    settings_class: ClassVar[type[NetworkSettings]] = GATScoresSettings
    hops: ClassVar[int | None] = 1
    hops_before: ClassVar[int] = 1

    def __init__(self, sizes: NetworkSizes, own: GATScoresSettings) -> None:
        super().__init__()
        width, heads = head_width(own.hidden, own.heads), own.output_heads
        self.width = heads * sizes.classes
        self.first = Attention(sizes.rngs, sizes.features, own.heads, width)
        self.second = Attention(sizes.rngs, own.hidden, heads, sizes.classes, averaged=True)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """Return h0 of a graph without edges between nodes: each attends to itself."""
        return self._scores(x.linear(self.first.weight, noise) + self.first.bias[:, None], noise)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """drop(ELU(attention over drop(X) W1)) W2."""
        z = x.linear(self.first.weight, noise)
        return self._scores(self.attend(1, self.first, z, adjacency, noise), noise)

    def _scores(self, h: Tensor, noise: Noise | None) -> Tensor:
        return product(self.dropout_all(F.elu(h), noise, SECOND), self.second.weight)

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """Σ_j drop(a_ij) h_j, twice: nothing comes after it."""
        mixed = self.mixed(k + 1, self.second, h0, h, adjacency, noise)
        return mixed, mixed

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Σ_j a_ij h0_j; the first step drops coefficients."""
        if noise is None:
            return aggregate
        return self.mixed(2, self.second, h0, h0, adjacency, noise, dropping=False)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """Return the mean of the heads, and b."""
        return self.second.together(h)

    def decayed(self) -> list[nn.Parameter]:
        """W1; the original decays all."""
        return [self.first.weight]
