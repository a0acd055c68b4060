"""What GPR-GNN and DAGNN share: class scores of every node, which then propagate."""

from collections.abc import Iterator
from typing import ClassVar

from torch import Tensor
from torch.nn import functional as F

from ppro.compute.features import Features
from ppro.compute.layers import RunLinear, glorot, zeros
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.backbones.base import HIDDEN_SITE
from ppro.nn.network import Inputs
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.settings.groups import NetworkSettings


class Predictor(Baseline):
    """Z = drop(ReLU(drop(X) W1 + b1)) W2 + b2, and Z, ÂZ, Â²Z ... for the rival to weigh."""

    keeps_steps: ClassVar[bool] = True

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.max_steps = own.max_steps
        self.weight1 = glorot(sizes.rngs, sizes.features, own.hidden)
        self.bias1 = zeros(sizes.rngs, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden, sizes.classes)

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
        z: Tensor = self.output(self.dropout_of(h, x.nodes, noise, HIDDEN_SITE))
        return z

    def hops(self, z: Tensor, adjacency: Adjacency) -> Iterator[Tensor]:
        """Z, ÂZ ... Â^L Z."""
        yield z
        for _ in range(self.max_steps):
            z = adjacency.matmul(z)
            yield z
