"""PPro: a backbone whose nodes propagate as far as the controllers say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import torch
from torch import Tensor, nn

from ppro import losses
from ppro.backbones import BACKBONES, Backbone
from ppro.controllers import Controllers
from ppro.network import Inputs, Network, Outcome, Rows
from ppro.noise import Noise
from ppro.priority import heterophily_degree
from ppro.propagation import selected_recursion
from ppro.strategies import LearnToBreak, LearnToUpdate, Selector, Strategy

if TYPE_CHECKING:
    from ppro.config import Settings

ALL = slice(None)
SMALLEST_CHANGE = 1e-6
"""Keeps the logarithm of a step that changed nothing finite."""


@dataclass(frozen=True)
class Parts:
    """Which parts of the framework are switched on (the paper's ablations switch one off).

    Args:
        propagation: the propagation controller; without it every node takes L steps (-np).
        weighting: the weight controller; without it every weight is 1 (-nw).
        priority: node priority z as an input of the propagation controller (-nz).
        step: the step l as an input of the weight controller (-nl).
        predictions: the controllers see softmax predictions instead of embeddings.
        progress: the propagation controller also sees k/L and log ‖h_k - h_{k-1}‖.
    """

    propagation: bool = True
    weighting: bool = True
    priority: bool = True
    step: bool = True
    predictions: bool = False
    progress: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Parts:
        """Those that the settings leave on."""
        return cls(
            propagation=settings.use_propagation,
            weighting=settings.use_weighting,
            priority=settings.use_priority,
            step=settings.use_step,
            predictions=settings.controller_inputs == "predictions",
            progress=settings.use_progress,
        )


class PProNetwork(Network):
    """Backbone + propagation controller + weight controller, for R runs at once.

    Args:
        backbone: the graph neural network.
        controllers: both controllers, or None to train the bare backbone.
        strategy: how nodes choose their step.
        max_steps: L.
        epsilon: the threshold ε of each run. Shape ``[R]``.
    """

    run_buffers: ClassVar[tuple[str, ...]] = ("epsilon",)

    epsilon: Tensor

    def __init__(
        self,
        backbone: Backbone,
        controllers: Controllers | None,
        strategy: Strategy,
        max_steps: int,
        epsilon: Tensor,
        parts: Parts | None = None,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.controllers = controllers
        self.strategy = strategy
        self.max_steps = max_steps
        self.parts = parts or Parts()
        self.capturable = backbone.capturable
        self.register_buffer("epsilon", epsilon.view(-1, 1), persistent=False)

    @classmethod
    def from_settings(
        cls,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        settings: Sequence[Settings],
    ) -> Self:
        """PPro around the backbone that the settings name."""
        made = BACKBONES[settings[0].backbone]
        backbone = made.from_settings(rngs, num_features, num_classes, settings[0])
        return cls.around(backbone, rngs, num_classes, settings)

    @classmethod
    def around(
        cls,
        backbone: Backbone,
        rngs: Sequence[torch.Generator],
        num_classes: int,
        settings: Sequence[Settings],
    ) -> Self:
        """PPro around a backbone: controllers and parts as the settings say."""
        first, parts = settings[0], Parts.of(settings[0])
        controllers = None
        if first.strategy != "none":
            controllers = Controllers(
                rngs,
                num_classes if parts.predictions else backbone.width,
                first.controller_units,
                [float(s.propagation_bias or 0.0) for s in settings],
                first.weight_form,
                progress=parts.progress,
            )
        epsilon = torch.tensor([s.epsilon for s in settings])
        return cls(backbone, controllers, first.strategy, first.max_steps, epsilon, parts)

    @property
    def chooses(self) -> bool:
        """Whether nodes choose their step; else all of them take L."""
        return self.controllers is not None and self.parts.propagation

    def theta(self) -> list[nn.Parameter]:
        """θ: the backbone."""
        return list(self.backbone.parameters())

    def phi(self) -> list[nn.Parameter]:
        """φ: both controllers."""
        return [] if self.controllers is None else list(self.controllers.parameters())

    def decayed(self) -> list[nn.Parameter]:
        """The part of θ that weight decay acts on where it is not for all of it."""
        return self.backbone.decayed()

    def between(self) -> list[nn.Parameter]:
        """The backbone's layers of the steps."""
        return self.backbone.between()

    def statistics(self) -> list[nn.Parameter]:
        """The backbone's running means."""
        return self.backbone.statistics()

    def forward(
        self,
        inputs: Inputs,
        rows: Rows,
        noise: Noise | None = None,
        watch: Callable[[Selector], Selector] | None = None,
    ) -> Outcome:
        """Lines 3-9 of Algorithm 1: propagate, choose the step of each row, weigh it, classify.

        Gradients reach the backbone alone, through h_{l_i}.

        Args:
            watch: puts a selector of its own around the strategy's, to see every step.
        """
        pass_ = _Pass(self, inputs, rows, noise, watched=watch is not None)
        selector = self._selector(pass_, judge=False)
        if watch is not None:
            selector = watch(selector)
        h_tilde = pass_.run(selector)
        logits = self.backbone.classify(h_tilde, pass_.h0_rows, rows.nodes, noise)
        with torch.no_grad():
            weights = self._weights(pass_, h_tilde)
        return Outcome(logits, h_tilde, pass_.steps, weights)

    def controller_loss(
        self, inputs: Inputs, rows: Rows, noise: Noise | None, lambda1: Tensor, lambda2: Tensor
    ) -> Tensor:
        """Line 10 and the loss of line 11: the same forward pass, now judged for the controllers.

        Gradients reach the controllers alone. Shape ``[R]``.
        """
        with torch.no_grad():
            pass_ = _Pass(self, inputs, rows, noise)
        selector = self._selector(pass_, judge=True)
        with torch.no_grad():
            h_tilde = pass_.run(selector)
            error = pass_.error(h_tilde)
        propagation = self._propagation_loss(pass_, selector, error)
        if not self.parts.weighting:
            return propagation
        weights = self._weights(pass_, h_tilde)
        weighting = losses.weighted_loss(error, weights, lambda1, rows.valid, rows.total)
        return losses.controller_loss(propagation, weighting, lambda2)

    def _selector(self, pass_: _Pass, *, judge: bool) -> Selector:
        h0 = pass_.h0_rows[:, : pass_.chosen]
        if not self.chooses:
            return Selector(h0)
        if self.strategy == "l2b":
            breaks = LearnToBreak(h0, pass_.break_probability, self.epsilon, judged=judge)
            breaks.ranks = pass_.inputs.ranks
            return breaks
        error = pass_.error if judge else None
        return LearnToUpdate(h0, pass_.update_probability, self.epsilon, error)

    def _propagation_loss(self, pass_: _Pass, selector: Selector, error: Tensor) -> Tensor:
        """L_p of the strategy (Eq. 9 or 10)."""
        valid, total = pass_.rows.valid, pass_.rows.total
        if isinstance(selector, LearnToBreak):
            p = pass_.break_probability(selector.h_tilde, selector.evidence, None)
            return losses.break_loss(error, p, valid, total, pass_.inputs.ranks)
        if isinstance(selector, LearnToUpdate):
            p, step_error, best_error = (torch.stack(t) for t in zip(*selector.trace, strict=True))
            return losses.update_loss(p, step_error, best_error, valid, total)
        return error.new_zeros(error.shape[0])

    def _weights(self, pass_: _Pass, h_tilde: Tensor) -> Tensor:
        """w_i (Eq. 11), or 1 without a weight controller."""
        if self.controllers is None or not self.parts.weighting:
            return torch.ones_like(pass_.rows.valid)
        free = pass_.rows.free
        depth = pass_.steps[:, :free].to(h_tilde.dtype) / self.max_steps
        weights = self.controllers.weight(
            pass_.shared(weighting=True),
            pass_.seen(h_tilde[:, :free]),
            depth if self.parts.step else None,
        )
        if free is None:
            return weights
        return torch.cat([weights, torch.ones_like(pass_.rows.valid[:, free:])], dim=1)


class _Pass:
    """One forward pass: the propagation of the graph, and what the controllers see of the rows.

    Args:
        watched: whether every step of every row is asked for, even where none of them chooses.

    Attributes:
        chosen: how many rows, from the first, are read at every step, so that a selector can
            choose among them; those that follow are read at step L alone. None for all.
        steps: l of the rows, once the pass has run. Shape ``[R, m]``.
    """

    steps: Tensor

    def __init__(
        self,
        model: PProNetwork,
        inputs: Inputs,
        rows: Rows,
        noise: Noise | None,
        *,
        watched: bool = False,
    ) -> None:
        self.model, self.inputs, self.rows, self.noise = model, inputs, rows, noise
        self.chosen = rows.free if model.chooses or watched else 0
        self.adjacency = inputs.adjacency
        if noise is not None and noise.edge_rates is not None:
            self.adjacency = inputs.adjacency.dropped(noise)
        self.h0 = model.backbone.initial(inputs.features, self.adjacency, noise)
        self._flat = rows.flat(inputs.num_nodes)
        self.h0_rows = self._pick(self.h0)
        self._before = self.h0_rows[:, : self.chosen].detach()
        self._last = self.h0
        self.z: Tensor | None = None
        self._shared: dict[tuple[bool, bool], Tensor] = {}

    def run(self, selector: Selector) -> Tensor:
        """Let the selector watch every step; returns h̃ of the rows with its gradient."""
        alpha, last, k = self.model.backbone.alpha, self.model.max_steps, 0
        for k, aggregate, h in self._general() if alpha is None else self._linear(alpha):
            selector.observe(k, h, self._evidence(k, h, aggregate), last=k == last)
            if self.chosen is None and selector.settled():
                break
        h_tilde, self.steps = self._with_the_rest(selector)
        if alpha is None or not self.h0.requires_grad:
            return h_tilde
        arguments = h_tilde, self.steps, self._flat, self.adjacency, alpha, k
        return selected_recursion(self.h0, *arguments)

    def _with_the_rest(self, selector: Selector) -> tuple[Tensor, Tensor]:
        """h̃ and l of the rows that chose, followed by h_L and L of those that did not."""
        if self.chosen is None:
            return selector.h_tilde, selector.steps
        rest = self._pick(self._last, slice(self.chosen, None))
        full = selector.steps.new_full(rest.shape[:2], self.model.max_steps)
        if not self.chosen:
            return rest, full
        h_tilde = torch.cat([selector.h_tilde, rest], dim=1)
        return h_tilde, torch.cat([selector.steps, full], dim=1)

    def _evidence(self, k: int, h: Tensor, aggregate: Tensor) -> Tensor:
        """ĥ_k of the rows, followed by k/L and log ‖h_k - h_{k-1}‖ where they are asked for."""
        if not self.model.parts.progress:
            return aggregate
        with torch.no_grad():
            change = torch.linalg.vector_norm(h - self._before, dim=-1, keepdim=True)
            depth = torch.full_like(change, k / self.model.max_steps)
            self._before = h.detach()
            return torch.cat([aggregate, depth, torch.log(change + SMALLEST_CHANGE)], dim=-1)

    def _general(self) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Any backbone, recorded by autograd: yields k, ĥ^(k) and h^(k) of the rows that choose."""
        h, choosing = self.h0, slice(self.chosen)
        for k in range(1, self.model.max_steps + 1):
            aggregate, h = self.model.backbone.step(k, h, self.h0, self.adjacency, self.noise)
            self._last = h
            if k == 1:
                self._set_priority(self.h0, aggregate)
            yield k, self._pick(aggregate, choosing), self._pick(h, choosing)

    def _linear(self, alpha: float) -> Iterator[tuple[int, Tensor, Tensor]]:
        """h_k = (1-α) Â h_{k-1} + α h_0 in two buffers; ĥ follows from h_k, so it is not stored.

        Where h_0 is the same in every run, so is h_k, and is worked out once.
        """
        runs, choosing, h0 = self.h0.shape[0], slice(self.chosen), self.h0.detach()
        if h0.stride(0) == 0 and self.adjacency.values is None:
            h0 = h0[:1]
        h, h0_share = h0.contiguous(), alpha * self.h0_rows[:, : self.chosen].detach()
        h0, buffers = h, (torch.empty_like(h), torch.empty_like(h))
        for k in range(1, self.model.max_steps + 1):
            h = self.adjacency.mix_into(buffers[k % 2], h, h0, alpha)
            self._last = h.expand(runs, -1, -1)
            if k == 1:
                # ‖h_0 - h_1‖ = (1-α) ‖h_0 - ĥ_1‖, and standardising removes the factor.
                self._set_priority(h0, h)
            rows = self._pick(self._last, choosing)
            yield k, (rows - h0_share) / (1 - alpha), rows

    def _pick(self, h: Tensor, some: slice = ALL) -> Tensor:
        """The rows, or some of them, of all nodes. Shapes: ``[R, n, d]`` to ``[R, m, d]``."""
        if h.stride(0) == 0:
            return h[0][self.rows.nodes[:, some]]
        return h.reshape(-1, h.shape[-1])[self._flat[:, some]]

    def _set_priority(self, h0: Tensor, h: Tensor) -> None:
        """z_i = [d_i ‖ ec_i ‖ he_i] of the rows (Eq. 6), standardised over all nodes."""
        if self.model.controllers is None:
            return
        free = slice(self.rows.free)
        he = self.inputs.standardised(heterophily_degree(h0, h).detach()).unsqueeze(-1)
        he = self._pick(he.expand(self.h0.shape[0], -1, -1), free)
        self.z = torch.cat([self.inputs.influence[self.rows.nodes[:, free]], he], dim=-1)

    def seen(self, h: Tensor) -> Tensor:
        """What the controllers see of embeddings: themselves, or the predictions made of them."""
        if not self.model.parts.predictions:
            return h.detach()
        with torch.no_grad():
            first = slice(None, h.shape[1])
            h0, nodes = self.h0_rows[:, first], self.rows.nodes[:, first]
            return self.model.backbone.classify(h, h0, nodes, None).softmax(-1)

    def shared(self, *, weighting: bool) -> Tensor:
        """The controllers' first layer over h0 and z, computed once per pass and grad mode."""
        with_z = weighting or self.model.parts.priority
        key = with_z, torch.is_grad_enabled()
        if key not in self._shared:
            assert self.model.controllers is not None
            z = self.z if with_z else None
            h0 = self.h0_rows[:, : self.rows.free]
            self._shared[key] = self.model.controllers.shared(self.seen(h0), z)
        return self._shared[key]

    def break_probability(self, h: Tensor, evidence: Tensor, _: Tensor | None) -> Tensor:
        """Pr(r_b = 1) of rows (Eq. 7)."""
        return self._probability(h, evidence, None)

    def update_probability(self, h: Tensor, evidence: Tensor, best: Tensor) -> Tensor:
        """Pr(r_u = 1) of rows (Eq. 8)."""
        return self._probability(h, evidence, self.seen(best))

    def _probability(self, h: Tensor, evidence: Tensor, best: Tensor | None) -> Tensor:
        assert self.model.controllers is not None
        width = h.shape[-1]
        progress = evidence[..., width:] if self.model.parts.progress else None
        return self.model.controllers.probability(
            self.shared(weighting=False),
            self.seen(h),
            self.seen(evidence[..., :width]),
            best,
            progress,
        )

    def error(self, h: Tensor) -> Tensor:
        """C(y, ŷ) of rows from their embeddings, without gradient. Shape ``[R, m]``."""
        with torch.no_grad():
            logits = self.model.backbone.classify(h, self.h0_rows, self.rows.nodes, self.noise)
            return losses.prediction_error(logits, self.rows.labels)
