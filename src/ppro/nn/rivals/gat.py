"""GAT as it was published."""

from collections.abc import Mapping
from typing import ClassVar, cast

from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.attention import Attending, Attention, head_width
from ppro.compute.dense import product
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import STEP_SITE
from ppro.nn.backbones.gat_scores import GATScoresSettings
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual

_SHAPE = {"max_steps": 2, "decay": "all"}


class GAT(Baseline, Attending):
    """Graph attention (Veličković et al., 2018): H_k = ELU(attention over drop(H_{k-1}) W_k).

    H_0 = X. Every layer but the last of the ``max_steps`` has ``heads`` heads side by side; the
    last has ``output_heads``, whose mean gives the classes. Coefficients are dropped like features.

    ``hidden`` is the width of all heads of a layer together.
    """

    name: ClassVar[str] = "gat"
    title: ClassVar[str] = "GAT"
    uses_weights: ClassVar[bool] = False
    settings_class: ClassVar[type[NetworkSettings]] = GATScoresSettings
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"hidden": 64, "heads": 8, **_SHAPE},
                {"hidden": 32, "heads": 4, **_SHAPE},
                {"hidden": 128, "heads": 8, **_SHAPE},
            ),
            values=usual((0.6, 0.5, 0.7), (5e-4, 1e-3, 1e-4), (0.005, 0.01, 0.02)),
        ),
        "heterophilous": Space(
            shapes=(
                {"hidden": 64, "heads": 8, "feature_norm": "row", **_SHAPE},
                {"hidden": 64, "heads": 8, "feature_norm": "none", **_SHAPE},
                {"hidden": 64, "heads": 8, "feature_norm": "none", "self_loops": False, **_SHAPE},
            ),
            values=usual((0.6, 0.2, 0.5), (5e-4, 1e-5, 5e-3), (0.005, 0.01, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: GATScoresSettings) -> None:
        super().__init__()
        self.max_steps = own.max_steps
        width = head_width(own.hidden, own.heads)
        inner = [sizes.features, *[own.hidden] * (own.max_steps - 1)]
        last = inner.pop()
        self.layers = nn.ModuleList(
            Attention(sizes.rngs, fan_in, own.heads, width) for fan_in in inner
        )
        heads = own.output_heads
        self.layers.append(Attention(sizes.rngs, last, heads, sizes.classes, averaged=True))

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return all layers over all nodes."""
        first, *others = (cast(Attention, layer) for layer in self.layers)
        z = inputs.features.linear(first.weight, noise)
        h = self.attend(1, first, z, inputs.adjacency, noise)
        for k, layer in enumerate(others, start=2):
            z = product(self.dropout_all(F.elu(h), noise, STEP_SITE + k), layer.weight)
            h = self.attend(k, layer, z, inputs.adjacency, noise)
        return rows.pick(h)

    def decayed(self) -> list[nn.Parameter]:
        """W_1; the original decays all."""
        return [cast(Attention, self.layers[0]).weight]
