"""Residual GAT."""

from collections.abc import Sequence
from typing import ClassVar, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from ppro.compute.attention import Attending, Heads, head_width
from ppro.compute.dense import product
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.residual import Layer, OptionalWaySettings, Residual, ResidualSettings
from ppro.settings.groups import NetworkSettings


class ResGATSettings(OptionalWaySettings):
    """The settings of a residual GAT."""

    heads: int = Field(default=4, ge=1, le=256, description="attention heads")


class ResGAT(Residual, Attending):
    """GAT with normalised layers and a way past each.

    AGGREGATE_k(h) is the attention over h W_k, its heads side by side; coefficients are not
    dropped. See :class:`~ppro.nn.backbones.residual.Residual`.

    ``hidden`` is the width of all heads together.
    """

    name: ClassVar[str] = "res-gat"
    title: ClassVar[str] = "residual GAT"
    uses_weights: ClassVar[bool] = False
    settings_class: ClassVar[type[NetworkSettings]] = ResGATSettings

    def convolution(
        self, rngs: Sequence[torch.Generator], fan_in: int, own: ResidualSettings
    ) -> Heads:
        """W, and the vectors of attention."""
        heads = cast(ResGATSettings, own).heads
        return Heads(rngs, fan_in, heads, head_width(own.hidden, heads))

    def gather(
        self, k: int, around: nn.Module, z: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return the attention over z."""
        return self.mixed(k, cast(Heads, around), z, z, adjacency, noise, dropping=False)

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Σ_j ā_ij h0_j, ā being the mean coefficient of the first step's heads."""
        around = cast(Heads, cast(Layer, self.steps[0]).around)
        return self.around(around, product(h0, around.weight), h0, adjacency)
