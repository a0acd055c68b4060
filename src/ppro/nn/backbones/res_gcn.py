"""Residual GCN."""

from typing import ClassVar

from torch import Tensor, nn

from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.residual import OptionalWaySettings, Residual
from ppro.settings.groups import NetworkSettings


class ResGCN(Residual):
    """GCN with normalised layers and a way past each: AGGREGATE_k(h) = Â h W_k.

    See :class:`~ppro.nn.backbones.residual.Residual`.
    """

    name: ClassVar[str] = "res-gcn"
    title: ClassVar[str] = "residual GCN"
    settings_class: ClassVar[type[NetworkSettings]] = OptionalWaySettings

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
