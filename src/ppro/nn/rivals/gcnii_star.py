"""GCNII* as it was published."""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.layers import glorot
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones import Backbone
from ppro.nn.backbones import gcnii as backbones
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.gcnii import GCNII


class _Separate(backbones.GCNII):
    """GCNII whose steps have two weights."""

    def __init__(self, sizes: NetworkSizes, own: backbones.GCNIISettings) -> None:
        super().__init__(sizes, own)
        self.initial_steps = nn.ParameterList(
            glorot(sizes.rngs, self.width, self.width) for _ in self.steps
        )

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â drop(h), and ReLU((1-α) ĥ M1_k + α h0 M2_k) with M_k = (1-β_k) I + β_k W_k."""
        aggregate = adjacency.matmul(self.dropout_step(h, noise, k))
        beta = math.log(self.gcnii_lambda / k + 1)
        of_neighbours = _mapped((1 - self.residual) * aggregate, self.steps[k - 1], beta)
        of_initial = _mapped(self.residual * h0, self.initial_steps[k - 1], beta)
        return aggregate, F.relu(of_neighbours + of_initial)

    def between(self) -> list[nn.Parameter]:
        """W1_k and W2_k."""
        return [*self.steps, *self.initial_steps]


def _mapped(h: Tensor, weight: Tensor, beta: float) -> Tensor:
    """(1-β) h + β h W."""
    return torch.baddbmm(h, h, weight, beta=1 - beta, alpha=beta)


class GCNIIStar(GCNII):
    """GCNII with weights of their own for the aggregate and for the initial residual.

    h_k = ReLU((1-α) Â drop(h_{k-1}) ((1-β_k) I + β_k W1_k) + α h_0 ((1-β_k) I + β_k W2_k)), with
    β_k = log(λ/k + 1) (Chen et al., 2020).
    """

    name: ClassVar[str] = "gcnii-star"
    title: ClassVar[str] = "GCNII*"
    made_of: ClassVar[type[Backbone]] = _Separate
