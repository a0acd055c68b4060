"""GRAND: the features propagate, and a normalised network of two layers sees what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.features import Features
from ppro.compute.layers import RunBatchNorm, RunLinear
from ppro.compute.noise import Noise
from ppro.nn.backbones import spaces
from ppro.nn.backbones.base import HIDDEN_SITE, LinearBackbone, dropout
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings, Share
from ppro.settings.space import Space

if TYPE_CHECKING:
    from ppro.settings.settings import Settings

INPUT_SITE = 4


class GRANDSettings(NetworkSettings):
    """The settings of GRAND."""

    alpha: Share = Field(default=0.1, description="the share α of the features in a step")


class GRAND(LinearBackbone):
    """GRAND's network (Feng et al., 2020) on APPNP's steps, h_k = (1-α) Â h_{k-1} + α h_0.

    h0 is X, of which whole rows are dropped in training (``node_dropout``), and
    ŷ = softmax(drop(N2(ReLU(drop(N1(h̃)) W1 + b1))) W2 + b2). N1 and N2 normalise over the nodes:
    a pass that θ learns from takes the mean and variance of all nodes at hand, any other pass the
    running means of these. So θ must learn from passes over all nodes: ``consistency`` is above 0.
    GRAND itself takes the mean over all steps instead of the last.
    """

    name: ClassVar[str] = "grand"
    title: ClassVar[str] = "GRAND"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.GRAND
    settings_class: ClassVar[type[NetworkSettings]] = GRANDSettings

    def __init__(self, sizes: NetworkSizes, own: GRANDSettings) -> None:
        super().__init__()
        self.alpha = own.alpha
        self.width = sizes.features
        self.norm1 = RunBatchNorm(sizes.rngs, sizes.features)
        self.layer = RunLinear(sizes.rngs, sizes.features, own.hidden)
        self.norm2 = RunBatchNorm(sizes.rngs, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden, sizes.classes)
        self._nodes = 0

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse to train without passes over all nodes."""
        if settings.training.consistency == 0:
            raise ValueError(
                "backbone grand takes its normalisation from passes over all nodes; "
                "set consistency above 0, for example 1"
            )

    @classmethod
    def propagated_width(cls, settings: NetworkSettings, features: int, classes: int) -> int:
        """Return the features themselves propagate."""
        return features

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """X of every run, without the rows that are dropped."""
        self._nodes = x.shape[0]
        return x.of_runs(self.output.weight.shape[0], noise)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """Logits of the given rows; where θ learns, all nodes are the last of them."""
        learns = noise is not None and torch.is_grad_enabled() and rows.shape[1] >= self._nodes
        batch = slice(rows.shape[1] - self._nodes, None) if learns else None
        seen = dropout(self.norm1(h, batch), rows, noise, INPUT_SITE)
        hidden = self.norm2(F.relu(self.layer(seen)), batch)
        logits: Tensor = self.output(dropout(hidden, rows, noise, HIDDEN_SITE))
        return logits

    def decayed(self) -> list[nn.Parameter]:
        """W1."""
        return [self.layer.weight]

    def statistics(self) -> list[nn.Parameter]:
        """Return the running means of both normalisations."""
        return [*self.norm1.statistics(), *self.norm2.statistics()]
