"""GPR-GNN: one learned weight for every number of steps, the same for all nodes."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from ppro.compute.noise import Noise
from ppro.nn.backbones.base import STEP_SITE
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.predictor import Predictor
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings, Share
from ppro.settings.space import Space, usual


class GPRGNNSettings(NetworkSettings):
    """The settings of GPR-GNN."""

    alpha: Share = Field(
        default=0.1, description="α of the weights γ_k at the start; 0.9 is nearly γ_0 alone"
    )


class GPRGNN(Predictor):
    """Generalised PageRank (Chien et al., 2021): ŷ = softmax(Σ_k γ_k Â^k drop(Z)), k = 0 .. L.

    The γ_k may have either sign. They start as the weights of personalised PageRank,
    γ_k = α(1-α)^k and γ_L = (1-α)^L, which makes the untrained network APPNP. The original drops
    elements of Z at a rate of its own; here they are dropped at the one rate there is.

    ``alpha`` is α of the initial γ. The original's 1 (γ_0 alone) is out of bounds, 0.9 is near.
    """

    name: ClassVar[str] = "gprgnn"
    title: ClassVar[str] = "GPR-GNN"
    settings_class: ClassVar[type[NetworkSettings]] = GPRGNNSettings
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"max_steps": 10, "hidden": 64, "alpha": 0.1},
                {"max_steps": 10, "hidden": 64, "alpha": 0.2},
                {"max_steps": 10, "hidden": 64, "alpha": 0.5},
            ),
            values=usual((0.5, 0.7, 0.8), (5e-4, 5e-3, 1e-2), (0.01, 0.002, 0.05)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 10, "hidden": 64, "alpha": 0.9, "feature_norm": "row"},
                {"max_steps": 10, "hidden": 64, "alpha": 0.9, "feature_norm": "none"},
                {"max_steps": 10, "hidden": 64, "alpha": 0.5, "feature_norm": "none"},
                {"max_steps": 10, "hidden": 64, "alpha": 0.1, "feature_norm": "none"},
            ),
            values=usual((0.5, 0.2, 0.7), (5e-4, 0.0, 5e-3), (0.05, 0.01, 0.002)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: GPRGNNSettings) -> None:
        super().__init__(sizes, own)
        gamma = own.alpha * (1 - own.alpha) ** torch.arange(own.max_steps + 1.0)
        gamma[-1] = (1 - own.alpha) ** own.max_steps
        self.gamma = nn.Parameter(gamma.repeat(len(sizes.rngs), 1))

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Σ_k γ_k Â^k drop(Z) of the rows."""
        z = self.dropout_all(self.scores(inputs, noise), noise, STEP_SITE)
        weights = self.gamma.unsqueeze(-1).unbind(1)
        hops = self.hops(z, inputs.adjacency)
        terms = [w.unsqueeze(-1) * rows.pick(h) for w, h in zip(weights, hops, strict=True)]
        return torch.stack(terms).sum(0)

    def decayed(self) -> list[nn.Parameter]:
        """Both layers, as in the original; never γ."""
        return [self.weight1, self.bias1, *self.output.parameters()]
