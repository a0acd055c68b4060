"""MLP: a network that never looks at an edge."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.feature_blocks import BlockedFeatures
from ppro.compute.features import Features
from ppro.compute.layers import RunLinear, glorot, zeros
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import HIDDEN_SITE, dropout
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual


class MLP(Baseline):
    """Two layers: ŷ = softmax(drop(ReLU(drop(X) W1 + b1)) W2 + b2)."""

    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "MLP"
    uses_weights: ClassVar[bool] = False
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=({"hidden": 64}, {"hidden": 256}),
            values=usual((0.5, 0.2, 0.8), (5e-4, 5e-3, 1e-2), (0.01, 0.005, 0.05)),
        ),
        "heterophilous": Space(
            shapes=({"hidden": 64, "feature_norm": "none"}, {"hidden": 64, "feature_norm": "row"}),
            values=usual((0.5, 0.2, 0.8), (5e-4, 1e-5, 5e-3), (0.01, 0.005, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.weight1 = glorot(sizes.rngs, sizes.features, own.hidden)
        self.bias1 = zeros(sizes.rngs, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden, sizes.classes)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Both layers work on each row by itself."""
        return True

    def reach(self) -> int | None:
        """No other node matters."""
        return 0

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Both layers, the second over the rows alone; from disk, over block after block."""
        x = inputs.features
        if not isinstance(x, BlockedFeatures):
            return self._classes(rows.pick(self._hidden(x, noise)), rows.nodes, noise)

        def both(block: Features) -> Tensor:
            assert block.nodes is not None
            return self._classes(self._hidden(block, noise), block.nodes, noise)

        return rows.pick(x.through(both, list(self.parameters())))

    def _hidden(self, x: Features, noise: Noise | None) -> Tensor:
        return F.relu(x.linear(self.weight1, noise) + self.bias1.unsqueeze(1))

    def _classes(self, h: Tensor, nodes: Tensor, noise: Noise | None) -> Tensor:
        logits: Tensor = self.output(dropout(h, nodes, noise, HIDDEN_SITE))
        return logits

    def decayed(self) -> list[nn.Parameter]:
        """W1."""
        return [self.weight1]
