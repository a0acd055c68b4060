"""What the residual GCN, SAGE and GAT share: normalised layers, each with a way past it.

The networks of "Classic GNNs are strong baselines" (Luo et al., 2024).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.attention import Heads
from ppro.compute.dense import product
from ppro.compute.features import Features
from ppro.compute.layers import RunBatchNorm, RunLayerNorm, RunLinear, glorot, zeros
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import residual_spaces
from ppro.nn.backbones.hidden import ClassifiedBackbone
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space

Norm = Literal["layer", "batch", "none"]
OF_ALL_NODES = 0.5
"""Momentum of statistics over all nodes: with no luck of the draw in them, old ones only lag."""


class ResidualSettings(NetworkSettings):
    """The settings that residual networks share."""

    norm: Norm = Field(
        default="layer",
        description="normalisation of a layer: over its units, over the nodes, none",
    )
    linear_first: bool = Field(
        default=True, description="a linear layer before the steps; else the first one convolves"
    )
    drop_features: bool = Field(
        default=False, description="drop the features as well, not hidden layers alone"
    )

    @property
    def has_way_past(self) -> bool:
        """Whether a node's own embedding passes every layer through weights of its own."""
        return True


class OptionalWaySettings(ResidualSettings):
    """The same for a convolution that has no weights for the node itself."""

    residual: bool = Field(
        default=True, description="a linear way past every layer for the node's own embedding"
    )

    @property
    def has_way_past(self) -> bool:
        """As ``residual`` says."""
        return self.residual


class Weight(nn.Module):
    """W of a convolution that has nothing else. Shape ``[R, fan_in, width]``."""

    def __init__(self, rngs: Sequence[torch.Generator], fan_in: int, width: int) -> None:
        super().__init__()
        self.weight = glorot(rngs, fan_in, width)


class Layer(nn.Module):
    """What a layer learns: of neighbours, of the node itself, a bias, a normalisation.

    Args:
        around: what it learns of neighbours.
        past: whether a node's own embedding passes through weights of its own.
        norm: its normalisation; that over the nodes takes the place of a bias.
    """

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        around: Weight | Heads,
        *,
        past: bool,
        norm: Norm,
    ) -> None:
        super().__init__()
        _, fan_in, width = around.weight.shape
        self.around = around
        self.past = glorot(rngs, fan_in, width) if past else None
        self.bias = None if norm == "batch" else zeros(rngs, width)
        self.norm: RunLayerNorm | RunBatchNorm | None = None
        if norm != "none":
            self.norm = (
                RunLayerNorm(rngs, width)
                if norm == "layer"
                else RunBatchNorm(rngs, width, OF_ALL_NODES)
            )

    def finish(self, aggregate: Tensor, own: Tensor | None, noise: Noise | None) -> Tensor:
        """ReLU(normalise(ĥ + own + b)).

        Args:
            noise: not None in training, where normalisation over the nodes takes those at hand.
        """
        h = aggregate if own is None else aggregate + own
        h = h if self.bias is None else h + self.bias.unsqueeze(1)
        if isinstance(self.norm, RunBatchNorm):
            h = self.norm(h, None if noise is None else slice(None))
        elif self.norm is not None:
            h = self.norm(h)
        return F.relu(h)


class Residual(ClassifiedBackbone):
    """h_k = ReLU(N_k(AGGREGATE_k(drop(h_{k-1})) + drop(h_{k-1}) V_k + b_k)).

    h0 = X W_in + b_in, or with ``linear_first`` off a layer over X like the others, so that L steps
    are L + 1 layers. N_k normalises over the units of a layer or over the nodes: in training over
    those at hand, in prediction by the running means of these, and then there is no b_k. After any
    step ŷ = softmax(drop(h̃) W_out + b_out), so a node may stop at any layer.
    """

    keeps_steps: ClassVar[bool] = True
    hops_before: ClassVar[int] = 1
    spaces: ClassVar[Mapping[Kind, Space]] = residual_spaces.BACKBONE

    def __init__(self, sizes: NetworkSizes, own: ResidualSettings) -> None:
        super().__init__(sizes, own)
        self.drop_features = own.drop_features

        def layer(fan_in: int) -> Layer:
            around = self.convolution(sizes.rngs, fan_in, own)
            return Layer(sizes.rngs, around, past=own.has_way_past, norm=own.norm)

        self.first: RunLinear | Layer = (
            RunLinear(sizes.rngs, sizes.features, own.hidden)
            if own.linear_first
            else layer(sizes.features)
        )
        self.steps = nn.ModuleList(layer(own.hidden) for _ in range(own.max_steps))

    def convolution(
        self, rngs: Sequence[torch.Generator], fan_in: int, own: ResidualSettings
    ) -> Weight | Heads:
        """Return what a layer learns of neighbours: W, and whatever more a network has."""
        return Weight(rngs, fan_in, own.hidden)

    @abstractmethod
    def gather(
        self, k: int, around: nn.Module, z: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return what the neighbours hold of z = h W, for layer k. Shape ``[R, n, d]``."""

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """X W_in + b_in, or the product with X that the first layer gathers."""
        noise = self._of_features(noise)
        if isinstance(self.first, Layer):
            return x.linear(self.first.around.weight, noise)
        return x.linear(self.first.weight, noise) + self.first.bias.unsqueeze(1)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """h0: what :meth:`embed` gives, or the first layer over X."""
        z, first = self.embed(x, noise), self.first
        if not isinstance(first, Layer):
            return z
        aggregate = self.gather(0, first.around, z, adjacency, noise)
        own = None if first.past is None else x.linear(first.past, self._of_features(noise))
        return first.finish(aggregate, own, noise)

    def _of_features(self, noise: Noise | None) -> Noise | None:
        """Return the noise of X: whole rows may be dropped where elements are not."""
        if self.drop_features or noise is None:
            return noise
        if noise.node_rates is None:
            return None
        return replace(noise, rates=torch.zeros_like(noise.rates))

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """Return what the neighbours hold of drop(h) W, and layer k."""
        layer, h = cast(Layer, self.steps[k - 1]), self.dropout_step(h, noise, k)
        z = product(h, layer.around.weight)
        aggregate = self.gather(k, layer.around, z, adjacency, noise)
        own = None if layer.past is None else product(h, layer.past)
        return aggregate, layer.finish(aggregate, own, noise)

    def decayed(self) -> list[nn.Parameter]:
        """Return the weights of X; the original decays all."""
        if isinstance(self.first, Layer):
            past = [] if self.first.past is None else [self.first.past]
            return [self.first.around.weight, *past]
        return [self.first.weight]

    def statistics(self) -> list[nn.Parameter]:
        """Return the running means of the normalisations over nodes."""
        norms = [module for module in self.modules() if isinstance(module, RunBatchNorm)]
        return [parameter for norm in norms for parameter in norm.statistics()]
