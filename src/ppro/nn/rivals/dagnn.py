"""DAGNN: every node weighs every number of steps by a gate."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from ppro.compute.layers import RunLinear
from ppro.compute.noise import Noise
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.predictor import Predictor
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual


class DAGNN(Predictor):
    """Deep adaptive GNN (Liu et al., 2020): ŷ_i = softmax(Σ_k s_ik h_ik), s_ik = σ(h_ik·s + b).

    h_ik is row i of Â^k Z, k = 0 .. L. The gates of a node need not sum to one.
    """

    name: ClassVar[str] = "dagnn"
    title: ClassVar[str] = "DAGNN"
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=({"max_steps": 10, "hidden": 64}, {"max_steps": 20, "hidden": 64}),
            values=usual((0.8, 0.5, 0.7), (5e-3, 2e-2, 1e-3), (0.01, 0.005, 0.02)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 10, "hidden": 64, "feature_norm": "row"},
                {"max_steps": 10, "hidden": 64, "feature_norm": "none"},
                {"max_steps": 5, "hidden": 64, "feature_norm": "none"},
            ),
            values=usual((0.8, 0.5, 0.2), (5e-3, 5e-4, 5e-5), (0.01, 0.005, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__(sizes, own)
        self.gate = RunLinear(sizes.rngs, sizes.classes, 1)

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Σ_k s_ik h_ik of the rows."""
        z = self.scores(inputs, noise)
        picked = [rows.pick(h) for h in self.hops(z, inputs.adjacency)]
        return torch.stack([self.gate(h).sigmoid() * h for h in picked]).sum(0)

    def decayed(self) -> list[nn.Parameter]:
        """Return all of θ, as in the original."""
        return self.theta()
