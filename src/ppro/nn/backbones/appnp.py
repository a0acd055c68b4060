"""APPNP, propagating hidden features, class scores or the features themselves."""

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import added_product, product
from ppro.compute.features import Features
from ppro.compute.layers import RunLinear, glorot, normal, zeros
from ppro.compute.noise import Noise
from ppro.nn.backbones import spaces
from ppro.nn.backbones.base import HIDDEN_SITE as HIDDEN_SITE
from ppro.nn.backbones.base import STATE_SITE, LinearBackbone, dropout
from ppro.nn.part import NetworkSizes
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings, Share
from ppro.settings.space import Space

Form = Literal["hidden", "class", "features"]


class APPNPSettings(NetworkSettings):
    """The settings of APPNP."""

    alpha: Share = Field(default=0.1, description="teleport share α: the share of h_0 in a step")
    form: Form = Field(
        default="hidden",
        description="what propagates: hidden features, class scores or the features",
    )
    concat: bool = Field(
        default=False, description="the classifier sees h̃ and h0; not in form class"
    )
    first_layer: Literal["glorot", "scaled"] = Field(
        default="glorot",
        description="initial weights of the first layer: glorot, or scaled to rows of length one "
        "(give feature_norm=unit too), so that h0 begins with about unit variance",
    )


class APPNP(LinearBackbone):
    """Predict then propagate (Klicpera et al., 2019): h_k = (1-α) Â h_{k-1} + α h_0.

    ``form="hidden"`` propagates hidden features, h0 = ReLU(drop(X) W1 + b1), and classifies
    after: ŷ = softmax(drop(h̃) W2 + b2). ``form="class"`` propagates class scores,
    h0 = drop(ReLU(drop(X) W1 + b1)) W2 + b2, and ŷ = softmax(h̃). ``form="features"`` propagates
    the features, as GRAND does (Feng et al., 2020), and the network sees what came of them:
    ŷ = softmax(drop(ReLU(h̃ + b1)) W2 + b2) with h0 = drop(X) W1, the same product from the cheaper
    end.

    With ``concat`` the classifier sees [h̃ ‖ h0] instead of h̃: a linear skip from h0. Form "class"
    has no such classifier. ``first_layer="scaled"`` draws W1 from N(0, 2), which suits rows of X of
    length one; ``feature_dropout`` and ``state_dropout`` drop X, and h0 before it propagates, at
    rates of their own.
    """

    name: ClassVar[str] = "appnp"
    title: ClassVar[str] = "APPNP"
    spaces: ClassVar[Mapping[Kind, Space]] = spaces.APPNP
    shareable: ClassVar[bool] = True
    settings_class: ClassVar[type[NetworkSettings]] = APPNPSettings

    def __init__(self, sizes: NetworkSizes, own: APPNPSettings) -> None:
        super().__init__()
        self.alpha = own.alpha
        self.form = own.form
        self.concat = own.concat and own.form != "class"
        self.width = sizes.classes if own.form == "class" else own.hidden
        self.weight1 = (
            glorot(sizes.rngs, sizes.features, own.hidden)
            if own.first_layer == "glorot"
            else normal(sizes.rngs, (sizes.features, own.hidden), math.sqrt(2))
        )
        self.bias1 = zeros(sizes.rngs, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden * (2 if self.concat else 1), sizes.classes)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Class scores are made row by row, and they alone propagate."""
        return isinstance(settings, APPNPSettings) and settings.form == "class"

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """h^(0) of all nodes. Shape ``[R, n, d]``."""
        if self.form == "features":
            return x.through(lambda rows: rows.linear(self.weight1, noise), [self.weight1])
        parameters = [self.weight1, self.bias1]
        if self.form == "class":
            parameters += [self.output.weight, self.output.bias]
        return x.through(lambda rows: self._embed(rows, noise), parameters)

    def _embed(self, x: Features, noise: Noise | None) -> Tensor:
        h = F.relu(x.linear(self.weight1, noise) + self.bias1.unsqueeze(1))
        if self.form != "hidden":
            h = self.output(self.dropout_of(h, x.nodes, noise, HIDDEN_SITE))
        if noise is None or STATE_SITE not in noise.site_rates:
            return h
        return self.dropout_of(h, x.nodes, noise, STATE_SITE)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """Logits of the given rows."""
        if self.form == "class":
            return h
        if self.form == "features":
            h, h0 = (F.relu(part + self.bias1.unsqueeze(1)) for part in (h, h0))
        seen = torch.cat([h, h0], dim=-1) if self.concat else h
        logits: Tensor = self.output(dropout(seen, rows, noise, HIDDEN_SITE))
        return logits

    def class_scores(self, h0: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return h0 W2, and what the classifier adds to it."""
        if self.form != "hidden":
            return None
        weight, bias = self.output.weight, self.output.bias.unsqueeze(1)
        added = added_product(bias, h0, weight[:, self.width :]) if self.concat else bias
        return product(h0, weight[:, : self.width]), added

    def decayed(self) -> list[nn.Parameter]:
        """W1, as in the original."""
        return [self.weight1]
