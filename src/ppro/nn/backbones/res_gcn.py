"""Residual GCN."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import residual_spaces
from ppro.nn.backbones.residual import Residual, ResidualSettings, Weight
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space


class ResGCNSettings(ResidualSettings):
    """The settings of a residual network whose convolution has no weights for the node itself."""

    residual: bool = Field(
        default=True, description="a linear way past every layer for the node's own embedding"
    )


class ResGCN(Residual):
    """GCN with normalised layers and a way past each: AGGREGATE_k(h) = Â h W_k.

    See :class:`~ppro.nn.backbones.residual.Residual`.
    """

    name: ClassVar[str] = "res-gcn"
    title: ClassVar[str] = "residual GCN"
    settings_class: ClassVar[type[NetworkSettings]] = ResGCNSettings
    spaces: ClassVar[Mapping[Kind, Space]] = residual_spaces.BACKBONE

    def __init__(self, sizes: NetworkSizes, own: ResGCNSettings) -> None:
        super().__init__(sizes, own, past=own.residual)

    def convolution(
        self, rngs: Sequence[torch.Generator], fan_in: int, own: ResidualSettings
    ) -> Weight:
        """W."""
        return Weight(rngs, fan_in, own.hidden)

    def gather(
        self, k: int, around: nn.Module, z: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Â z."""
        return adjacency.matmul(z)

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Â h0."""
        return adjacency.matmul(h0)
