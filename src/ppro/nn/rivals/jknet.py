"""JKNet as it was published."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from ppro.compute.layers import RunLinear
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import HIDDEN_SITE, dropout
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.gcn import GCN
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual

Jumping = Literal["cat", "max"]


class JKNetSettings(NetworkSettings):
    """The settings of JKNet."""

    jumping: Jumping = Field(
        default="cat", description="how the layers are joined: cat (side by side) or max"
    )


class JKNet(GCN):
    """Jumping knowledge (Xu et al., 2018): ŷ = softmax(drop(J(H_1, ..., H_L)) W + b).

    H_k = ReLU(Â drop(H_{k-1}) W_k + b_k) are graph convolutions of one width, H_0 = X.

    ``jumping`` says what J does: join the layers side by side, or take their maximum.
    """

    name: ClassVar[str] = "jknet"
    title: ClassVar[str] = "JKNet"
    settings_class: ClassVar[type[NetworkSettings]] = JKNetSettings
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"max_steps": 4, "hidden": 64, "jumping": "cat", "decay": "all"},
                {"max_steps": 4, "hidden": 64, "jumping": "max", "decay": "all"},
                {"max_steps": 2, "hidden": 64, "jumping": "cat", "decay": "all"},
            ),
            values=usual((0.8, 0.5, 0.6), (5e-4, 1e-4, 1e-3), (0.005, 0.01, 0.02)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 2, "hidden": 64, "jumping": "cat", "feature_norm": "row"},
                {"max_steps": 2, "hidden": 64, "jumping": "cat", "feature_norm": "none"},
                {"max_steps": 3, "hidden": 64, "jumping": "max", "feature_norm": "none"},
                {
                    **{"max_steps": 2, "hidden": 64, "jumping": "cat", "feature_norm": "none"},
                    "self_loops": False,
                },
            ),
            values=usual((0.5, 0.2, 0.8), (5e-4, 1e-5, 5e-3), (0.005, 0.01, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: JKNetSettings) -> None:
        super().__init__(replace(sizes, classes=own.hidden), own)
        self.jumping = own.jumping
        fan_in = own.hidden * own.max_steps if own.jumping == "cat" else own.hidden
        self.output = RunLinear(sizes.rngs, fan_in, sizes.classes)

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return the rows of every layer, joined and classified."""
        layers = [F.relu(rows.pick(h)) for h in self.convolutions(inputs, noise)]
        joined = torch.cat(layers, -1) if self.jumping == "cat" else torch.stack(layers).amax(0)
        logits: Tensor = self.output(dropout(joined, rows.nodes, noise, HIDDEN_SITE))
        return logits
