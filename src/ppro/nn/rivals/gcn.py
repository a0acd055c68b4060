"""GCN as it was published."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import product
from ppro.compute.layers import glorot, zeros
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import STEP_SITE
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual


class GCN(Baseline):
    """Graph convolutions (Kipf & Welling, 2017): H_k = ReLU(Â drop(H_{k-1}) W_k + b_k), H_0 = X.

    The last of the ``max_steps`` layers gives the classes: ŷ = softmax(Â drop(H) W + b).
    """

    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "GCN"
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"max_steps": 2, "hidden": 16},
                {"max_steps": 2, "hidden": 64},
                {"max_steps": 2, "hidden": 64, "decay": "all"},
            ),
            values=usual((0.5, 0.6, 0.7, 0.8), (5e-4, 1e-3, 5e-3), (0.01, 0.005, 0.05)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 2, "hidden": 64, "feature_norm": "row"},
                {"max_steps": 2, "hidden": 64, "feature_norm": "none"},
                {"max_steps": 2, "hidden": 64, "feature_norm": "none", "self_loops": False},
            ),
            values=usual((0.5, 0.2, 0.8), (5e-4, 1e-5, 5e-3), (0.01, 0.005, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.max_steps = own.max_steps
        widths = [own.hidden] * (own.max_steps - 1) + [sizes.classes]
        self.weight1, self.bias1 = (
            glorot(sizes.rngs, sizes.features, widths[0]),
            zeros(sizes.rngs, widths[0]),
        )
        self.weights = nn.ParameterList(
            glorot(sizes.rngs, own.hidden, width) for width in widths[1:]
        )
        self.biases = nn.ParameterList(zeros(sizes.rngs, width) for width in widths[1:])

    def convolutions(self, inputs: Inputs, noise: Noise | None) -> Iterator[Tensor]:
        """Â drop(H_{k-1}) W_k + b_k of every layer.

        The product with the weights comes first: that with Â is then narrower.
        """
        h = inputs.adjacency.matmul(inputs.features.linear(self.weight1, noise))
        h = h + self.bias1.unsqueeze(1)
        yield h
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), start=2):
            h = self.dropout_all(F.relu(h), noise, STEP_SITE + k)
            h = inputs.adjacency.matmul(product(h, weight)) + bias.unsqueeze(1)
            yield h

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return what the last layer gives."""
        *_, last = self.convolutions(inputs, noise)
        return rows.pick(last)

    def decayed(self) -> list[nn.Parameter]:
        """W_1, as in the original."""
        return [self.weight1]
