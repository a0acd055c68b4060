"""L2P, learning to propagate: a distribution over the steps of each node, learned on validation."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.layers import RunLinear, glorot, uniform, zeros
from ppro.compute.noise import Noise, matrix_ids, mix
from ppro.nn import losses
from ppro.nn.backbones.base import HIDDEN_SITE, STEP_SITE, dropout
from ppro.nn.network import Inputs, Outcome, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings, Share
from ppro.settings.space import Space

if TYPE_CHECKING:
    from ppro.settings.settings import Settings

GUMBEL_SITE = 200_000


def _spaces(entropy: tuple[float, ...]) -> dict[Kind, Space]:
    """Return those of both strategies, which differ in the choices of ``entropy``."""
    common = {"hidden": 64, "decay": "all"}
    mixed = {**common, "concat": True, "feature_norm": "none"}
    return {
        "homophilous": Space(
            shapes=(
                {**common, "max_steps": 8, "alpha": 0.0},
                {**common, "max_steps": 16, "alpha": 0.0},
                {**common, "max_steps": 8, "alpha": 0.1},
            ),
            values={
                "dropout": (0.6, 0.8),
                "weight_decay": (1e-4, 5e-4, 1e-3),
                "entropy": entropy,
                "lr_controller": (0.01, 0.001),
                "lr": (0.01, 0.005),
            },
        ),
        "heterophilous": Space(
            shapes=(
                {**mixed, "max_steps": 16, "alpha": 0.0},
                {**mixed, "max_steps": 4, "alpha": 0.0},
                {**mixed, "max_steps": 8, "alpha": 0.5},
            ),
            values={
                "dropout": (0.4, 0.6, 0.2),
                "weight_decay": (5e-6, 5e-4, 5e-3),
                "entropy": entropy,
                "lr_controller": (0.01, 0.001),
                "lr": (0.01, 0.05),
            },
        ),
    }


class L2PSettings(NetworkSettings):
    """The settings of L2P."""

    per_run: ClassVar[frozenset[str]] = frozenset({"entropy"})
    renamed: ClassVar[Mapping[str, str]] = {"lambda2": "entropy"}

    alpha: Share = Field(default=0.1, description="the share α of h_0 in a step")
    concat: bool = Field(default=False, description="the classifier sees h̃ and h0")
    entropy: float = Field(default=1.0, ge=0, description="share of the entropy of q in its loss")


class L2P(Baseline):
    """Learning to propagate (Xiao et al., 2021): ŷ_i = softmax(drop(Σ_l q_il h_il) W2 + b2).

    h_0 = ReLU(drop(X) W1 + b1) and h_l = (1-α) Â drop(h_{l-1}) + α h_0, l = 1 .. L; the original's
    code has α = 0. With ``concat`` the classifier sees [h̃ ‖ h_0]. q_i is the distribution over
    the steps of node i, and the most probable one is reported as its step.

    θ (both layers) learns from training labels. **φ (what makes q) learns from the labels of the
    VALIDATION nodes**, as in the original's code: see :attr:`judged_on`. The same nodes decide
    when training stops, so validation accuracy flatters this method. φ lowers the error minus
    ``entropy`` times the entropy of q, without which all nodes may rush to the same step.

    Attributes:
        sampled: whether training replaces q by a sample of the Gumbel softmax with temperature 1.
    """

    note: ClassVar[str] = "its controllers learn from validation labels"
    settings_class: ClassVar[type[NetworkSettings]] = L2PSettings
    run_buffers: ClassVar[tuple[str, ...]] = ("entropy",)
    judged_on: ClassVar[Literal["train", "val"]] = "val"
    sampled: ClassVar[bool] = False

    entropy: Tensor

    def __init__(self, sizes: NetworkSizes, own: L2PSettings) -> None:
        super().__init__()
        self.alpha, self.max_steps, self.concat = own.alpha, own.max_steps, own.concat
        self.weight1 = glorot(sizes.rngs, sizes.features, own.hidden)
        self.bias1 = zeros(sizes.rngs, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden * (2 if own.concat else 1), sizes.classes)
        self.gate = uniform(sizes.rngs, (own.hidden, 1), 1 / math.sqrt(2 * own.hidden))

    @abstractmethod
    def log_choice(self, states: Tensor) -> Tensor:
        """log q. Shapes: states h_0 .. h_L of the rows ``[R, m, L+1, d]`` to ``[R, m, L+1]``."""

    def phi(self) -> list[nn.Parameter]:
        """φ: what makes q."""
        return [self.gate]

    def theta(self) -> list[nn.Parameter]:
        """θ: both layers."""
        return [self.weight1, self.bias1, *self.output.parameters()]

    def decayed(self) -> list[nn.Parameter]:
        """W1; the original decays all (``decay`` "all")."""
        return [self.weight1]

    def forward(self, inputs: Inputs, rows: Rows, noise: Noise | None = None) -> Outcome:
        """The prediction from the mixture over steps; its gradient reaches θ through q too."""
        states = self.states(inputs, rows, noise)
        q = self._weights(self.log_choice(states), rows, noise)
        mixed = _mixture(q, states)
        logits: Tensor = self.output(self._seen(mixed, states, rows, noise))
        return Outcome(logits, mixed, q.argmax(-1), torch.ones_like(rows.valid))

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return those of :meth:`forward`."""
        return self.forward(inputs, rows, noise).logits

    @classmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """Return the rival of these settings; the share of the entropy may differ between runs."""
        made = super().from_settings(sizes, settings)
        entropy = torch.tensor([cast(L2PSettings, s.network).entropy for s in settings])
        made.register_buffer("entropy", entropy, persistent=False)
        return made

    def controller_loss(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """The mean error less the share of H(q), a function of φ alone, on validation nodes."""
        with torch.no_grad():
            states = self.states(inputs, rows, noise)
        log_q = self.log_choice(states)
        mixed = _mixture(self._weights(log_q, rows, noise), states)
        weight, bias = self.output.weight.detach(), self.output.bias.detach().unsqueeze(1)
        logits = torch.baddbmm(bias, self._seen(mixed, states, rows, noise), weight)
        error = losses.prediction_error(logits, rows.labels)
        entropy = -(log_q.exp() * log_q).sum(-1)
        return losses.node_mean(error - self.entropy.unsqueeze(1) * entropy, rows.valid)

    def states(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """h_0 .. h_L of the rows. Shape ``[R, m, L+1, d]``."""
        if noise is not None and noise.edge_rates is not None:
            inputs = inputs.with_dropped_edges(noise)
        h0 = F.relu(inputs.features.linear(self.weight1, noise) + self.bias1.unsqueeze(1))
        h, picked = h0, [rows.pick(h0)]
        for k in range(1, self.max_steps + 1):
            aggregate = inputs.adjacency.matmul(self.dropout_all(h, noise, STEP_SITE + k))
            h = torch.lerp(aggregate, h0, self.alpha) if self.alpha else aggregate
            picked.append(rows.pick(h))
        return torch.stack(picked, dim=2)

    def scores(self, states: Tensor) -> Tensor:
        """h_il·g of every step. Shape ``[R, m, L+1]``."""
        return torch.bmm(states.flatten(1, 2), self.gate).view(states.shape[:3])

    def _weights(self, log_q: Tensor, rows: Rows, noise: Noise | None) -> Tensor:
        """q, or the sample that takes its place in training."""
        if self.sampled and noise is not None:
            log_q = log_q + gumbel(matrix_ids(rows.nodes, log_q.shape[-1]), noise).to(log_q.dtype)
        return log_q.softmax(-1)

    def _seen(self, mixed: Tensor, states: Tensor, rows: Rows, noise: Noise | None) -> Tensor:
        seen = torch.cat([mixed, states[:, :, 0]], dim=-1) if self.concat else mixed
        return dropout(seen, rows.nodes, noise, HIDDEN_SITE)


class L2S(L2P):
    """Learning to select: q_i = softmax over l of h_il·g.

    The original's gate sees h_0 beside h_l and has a bias; over l both cancel.
    """

    name: ClassVar[str] = "l2s"
    title: ClassVar[str] = "L2P (L2S)"
    spaces: ClassVar[Mapping[Kind, Space]] = _spaces(entropy=(0.0, 0.2, 1.0))

    def log_choice(self, states: Tensor) -> Tensor:
        """Return a softmax over the steps, in logarithms."""
        return self.scores(states).log_softmax(-1)


class L2Q(L2P):
    """Learning to quit: at step l a node quits with probability t_il = σ([h_il ‖ h_i0]·g + b).

    q_il = t_il Π_{j<l} (1 - t_ij), and what is left at step L quits there. The original samples
    in prediction as in training; here prediction takes q itself, and so has no chance in it.
    """

    name: ClassVar[str] = "l2q"
    title: ClassVar[str] = "L2P (L2Q)"
    sampled: ClassVar[bool] = True
    spaces: ClassVar[Mapping[Kind, Space]] = _spaces(entropy=(0.6, 0.2, 1.0))

    def __init__(self, sizes: NetworkSizes, own: L2PSettings) -> None:
        super().__init__(sizes, own)
        bound = 1 / math.sqrt(2 * own.hidden)
        self.gate_initial = uniform(sizes.rngs, (own.hidden, 1), bound)
        self.gate_bias = uniform(sizes.rngs, (1, 1), bound)

    def phi(self) -> list[nn.Parameter]:
        """φ: g and b."""
        return [self.gate, self.gate_initial, self.gate_bias]

    def log_choice(self, states: Tensor) -> Tensor:
        """Stick-breaking, in logarithms."""
        score = self.scores(states)
        score = score + torch.baddbmm(self.gate_bias, states[:, :, 0], self.gate_initial)
        stay, quit_ = F.logsigmoid(-score[..., :-1]), F.logsigmoid(score[..., :-1])
        return F.pad(stay.cumsum(-1), (1, 0)) + F.pad(quit_, (0, 1))


def gumbel(ids: Tensor, noise: Noise) -> Tensor:
    """Gumbel noise -log(-log u) of the elements ``[R, ...]``, from the hash that drops elements."""
    key = noise.keys(GUMBEL_SITE).view((-1,) + (1,) * (ids.dim() - 1))
    u = (mix(ids + key).double() + (2**31 + 0.5)) / 2**32
    return -torch.log(-torch.log(u))


def _mixture(q: Tensor, states: Tensor) -> Tensor:
    """h̃_i = Σ_l q_il h_il. Shape ``[R, m, d]``."""
    return torch.matmul(q.unsqueeze(2), states).squeeze(2)
