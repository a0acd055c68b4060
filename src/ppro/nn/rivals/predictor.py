"""What GPR-GNN and DAGNN share: class scores of every node, which then propagate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from ppro.compute.features import Features
from ppro.compute.layers import RunLinear, glorot, zeros
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.base import HIDDEN_SITE, dropout
from ppro.nn.network import Inputs
from ppro.nn.rivals.base import Baseline
from ppro.settings.groups import NetworkSettings


class Predictor(Baseline):
    """Z = drop(ReLU(drop(X) W1 + b1)) W2 + b2, and Z, ÂZ, Â²Z ... for the rival to weigh."""

    keeps_steps: ClassVar[bool] = True

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        *,
        hidden: int,
        max_steps: int,
    ) -> None:
        super().__init__()
        self.max_steps = max_steps
        self.weight1, self.bias1 = glorot(rngs, num_features, hidden), zeros(rngs, hidden)
        self.output = RunLinear(rngs, hidden, num_classes)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Class scores are made row by row, and they alone propagate."""
        return True

    def reach(self) -> int | None:
        """As many hops as steps."""
        return self.max_steps

    def scores(self, inputs: Inputs, noise: Noise | None) -> Tensor:
        """Z of all nodes. Shape ``[R, n, c]``."""
        parameters = [self.weight1, self.bias1, self.output.weight, self.output.bias]
        return inputs.features.through(lambda x: self._scores(x, noise), parameters)

    def _scores(self, x: Features, noise: Noise | None) -> Tensor:
        h = F.relu(x.linear(self.weight1, noise) + self.bias1.unsqueeze(1))
        if x.nodes is None:
            dropped = self.dropout_all(h, noise, HIDDEN_SITE)
        else:
            dropped = dropout(h, x.nodes, noise, HIDDEN_SITE)
        z: Tensor = self.output(dropped)
        return z

    def hops(self, z: Tensor, adjacency: Adjacency) -> Iterator[Tensor]:
        """Z, ÂZ ... Â^L Z."""
        yield z
        for _ in range(self.max_steps):
            z = adjacency.matmul(z)
            yield z
