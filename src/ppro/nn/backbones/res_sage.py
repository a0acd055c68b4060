"""Residual GraphSAGE."""

from typing import ClassVar

from torch import Tensor, nn

from ppro.compute.means import Averaging
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.residual import Residual, ResidualSettings
from ppro.settings.groups import NetworkSettings


class ResSAGE(Residual, Averaging):
    """GraphSAGE (Hamilton et al., 2017) with normalised layers.

    AGGREGATE_k(h) is the mean of h W_k over the neighbours, the node itself left out, whatever
    ``normalisation`` and ``self_loops`` say of Â. Its weights V_k for the node itself are the way
    past a layer. See :class:`~ppro.nn.backbones.residual.Residual`.
    """

    name: ClassVar[str] = "res-sage"
    title: ClassVar[str] = "residual SAGE"
    uses_weights: ClassVar[bool] = False
    settings_class: ClassVar[type[NetworkSettings]] = ResidualSettings

    def gather(
        self, k: int, around: nn.Module, z: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return the mean of z over the neighbours."""
        return self.means(adjacency).matmul(z)

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return the mean of h0 over the neighbours."""
        return self.means(adjacency).matmul(h0)
