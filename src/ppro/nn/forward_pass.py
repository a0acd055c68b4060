"""A forward pass: lines 3 to 8 of Algorithm 1, for the rows that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.compute.propagation import selected_recursion
from ppro.nn.controllers import Controllers
from ppro.nn.looking_ahead import look_ahead, may_look_ahead, note_steps
from ppro.nn.network import Inputs, Rows
from ppro.nn.strategies import Strategy

if TYPE_CHECKING:
    from ppro.nn.batched import PProNetwork
    from ppro.nn.comparing.network import ComparingNetwork

ALL = slice(None)
SMALLEST_CHANGE = 1e-6
"""Keeps the logarithm of a step that changed nothing finite."""


class Pass:
    """One forward pass: the propagation of the graph, and what the controllers see of the rows.

    It is the :class:`~ppro.nn.strategies.View` of the strategy that watches it.

    Args:
        learning: whether the pass teaches the controllers.
        watched: whether every step of every row is asked for, even where none of them chooses.

    Attributes:
        chosen: how many rows, from the first, are read at every step, so that a strategy can
            choose among them; those that follow are read at step L alone. None for all.
        steps: l of the rows, once the pass has run. Shape ``[R, m]``.
    """

    steps: Tensor

    def __init__(
        self,
        model: PProNetwork | ComparingNetwork,
        inputs: Inputs,
        rows: Rows,
        noise: Noise | None,
        *,
        learning: bool = False,
        watched: bool = False,
    ) -> None:
        self.model, self.inputs, self.rows, self.noise = model, inputs, rows, noise
        self.learning, self.ranks, self.epsilon = learning, inputs.ranks, model.epsilon
        self.watched = watched
        self.valid, self.total = rows.valid, rows.total
        self.chosen = rows.free if model.chooses or watched else 0
        self.adjacency = inputs.adjacency
        if noise is not None and noise.edge_rates is not None:
            self.adjacency = inputs.adjacency.dropped(noise)
        self.h0_all = model.backbone.initial(inputs.features, self.adjacency, noise)
        self._flat = rows.flat(inputs.num_nodes)
        self.h0_rows = self.pick(self.h0_all)
        self._before = self.h0_rows[:, : self.chosen].detach()
        self._last = self.h0_all
        self.z: Tensor | None = None
        self._shared: dict[tuple[bool, bool], Tensor] = {}

    @property
    def h0(self) -> Tensor:
        """h^(0) of the rows that are read at every step. Shape ``[R, chosen, d]``."""
        return self.h0_rows[:, : self.chosen]

    def run(self, strategy: Strategy) -> Tensor:
        """Let the strategy watch every step; returns h̃ of the rows with its gradient."""
        last, k, self._looked_at = self.model.max_steps, 0, strategy.looks
        alpha = None if self.adjacency.recorded else self.model.backbone.alpha
        if alpha is not None and may_look_ahead(self, strategy):
            k = look_ahead(self, strategy, alpha)
        else:
            for k, aggregate, h in self._general() if alpha is None else self._linear(alpha):
                strategy.observe(k, h, self._evidence(k, h, aggregate), last=k == last)
                if self.chosen is None and not torch.compiler.is_compiling() and strategy.settled():
                    break
        note_steps(self, strategy, k)
        h_tilde, self.steps = self._with_the_rest(strategy)
        if alpha is None or not self.h0_all.requires_grad:
            return h_tilde
        arguments = h_tilde, self.steps, self._flat, self.adjacency, alpha, k
        return selected_recursion(self.h0_all, *arguments)

    def _with_the_rest(self, strategy: Strategy) -> tuple[Tensor, Tensor]:
        """h̃ and l of the rows that chose, followed by h_L and L of those that did not."""
        if self.chosen is None:
            return strategy.h_tilde, strategy.steps
        rest = self.pick(self._last, slice(self.chosen, None))
        full = strategy.steps.new_full(rest.shape[:2], self.model.max_steps)
        if not self.chosen:
            return rest, full
        h_tilde = torch.cat([strategy.h_tilde, rest], dim=1)
        return h_tilde, torch.cat([strategy.steps, full], dim=1)

    def _evidence(self, k: int, h: Tensor, aggregate: Tensor) -> Tensor:
        """ĥ_k of the rows, followed by k/L and log ‖h_k - h_{k-1}‖ where they are asked for."""
        if not (self.model.parts.use_progress and self._looked_at):
            return aggregate
        with torch.no_grad():
            change = torch.linalg.vector_norm(h - self._before, dim=-1, keepdim=True)
            depth = torch.full_like(change, k / self.model.max_steps)
            self._before = h.detach()
            return torch.cat([aggregate, depth, torch.log(change + SMALLEST_CHANGE)], dim=-1)

    def _general(self) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Any backbone, recorded by autograd: yields k, ĥ^(k) and h^(k) of the rows that choose."""
        h, choosing = self.h0_all, slice(self.chosen)
        for k in range(1, self.model.max_steps + 1):
            aggregate, h = self.model.backbone.step(k, h, self.h0_all, self.adjacency, self.noise)
            self._last = h
            if k == 1:
                self._set_priority(self.h0_all, aggregate)
            yield k, self.pick(aggregate, choosing), self.pick(h, choosing)

    def _linear(self, alpha: float) -> Iterator[tuple[int, Tensor, Tensor]]:
        """A linear backbone; ĥ follows from h_k, so it is not stored."""
        choosing, h0_share = slice(self.chosen), alpha * self.h0.detach()
        for k, h in self.propagated(alpha):
            rows = self.pick(h, choosing)
            yield k, (rows - h0_share) / (1 - alpha) if self._looked_at else rows, rows

    def propagated(self, alpha: float) -> Iterator[tuple[int, Tensor]]:
        """h_k = (1-α) Â h_{k-1} + α h_0 of all nodes, in two buffers.

        Where h_0 is the same in every run, so is h_k, and is worked out once.
        """
        runs, h0 = self.h0_all.shape[0], self.h0_all.detach()
        if h0.stride(0) == 0 and self.adjacency.values is None:
            h0 = h0[:1]
        h = h0 = h0.contiguous()
        buffers = torch.empty_like(h), torch.empty_like(h)
        for k in range(1, self.model.max_steps + 1):
            h = self.adjacency.mix_into(buffers[k % 2], h, h0, alpha)
            self._last = h if h.shape[0] == runs else h.expand(runs, -1, -1)
            if k == 1:
                # ‖h_0 - h_1‖ = (1-α) ‖h_0 - ĥ_1‖, and standardising removes the factor.
                self._set_priority(h0, h, alpha)
            yield k, self._last

    def steps_of(self, scores: Tensor, alpha: float) -> Iterator[Tensor]:
        """Propagate class scores of all nodes as a linear backbone does h^(0), and set z.

        Yields s^(0) .. s^(L), ``[R, n, c]`` each, in memory that is used again.
        """
        h0 = self.h0_all
        if self.model.changing:
            h1 = self.adjacency.mix_into(torch.empty_like(h0), h0, h0, alpha)
            self._set_priority(h0, h1, alpha)
        else:
            self._set_priority(h0, h0)
        s, buffers = scores, (torch.empty_like(scores), torch.empty_like(scores))
        yield s
        for k in range(1, self.model.max_steps + 1):
            s = self.adjacency.mix_into(buffers[k % 2], s, scores, alpha)
            yield s

    def pick(self, h: Tensor, some: slice = ALL) -> Tensor:
        """The rows, or some of them, of all nodes. Shapes: ``[R, n, d]`` to ``[R, m, d]``."""
        if self.rows.whole:
            return h[:, some]
        if h.stride(0) == 0:
            return h[0][self.rows.nodes[:, some]]
        return h.reshape(-1, h.shape[-1])[self._flat[:, some]]

    def _set_priority(self, h0: Tensor, aggregate: Tensor, alpha: float | None = None) -> None:
        """z_i = [d_i ‖ ec_i ‖ he_i] of the rows (Eq. 6), standardised over all nodes.

        Args:
            aggregate: ĥ^(1) of all nodes; h_1 where α is given.
        """
        if not (self.model.shows_priority or self.watched):
            return
        free = slice(self.rows.free)
        columns = [self.inputs.influence[self.rows.nodes[:, free]]]
        if alpha is None and self.model.changing:
            with torch.no_grad():
                around = self.model.backbone.comparable
                aggregate = around(h0, aggregate, self.adjacency, self.noise)
        for which, measure in enumerate(self.model.changing):
            seen = aggregate
            if alpha is not None and not measure.up_to_scale:
                seen = (aggregate - alpha * h0) / (1 - alpha)
            values = self.inputs.standardised(measure.of_step(h0, seen).detach(), which)
            values = values.unsqueeze(-1).expand(self.h0_all.shape[0], -1, -1)
            columns.append(self.pick(values, free))
        self.z = torch.cat(columns, dim=-1)

    def seen(self, h: Tensor) -> Tensor:
        """What the controllers see of embeddings: themselves, or the predictions made of them."""
        if self.model.parts.controller_inputs != "predictions":
            return h.detach()
        with torch.no_grad():
            first = slice(None, h.shape[1])
            h0, nodes = self.h0_rows[:, first], self.rows.nodes[:, first]
            return self.model.backbone.classify(h, h0, nodes, None).softmax(-1)

    @property
    def controllers(self) -> Controllers:
        """Return those of the network, where it has them."""
        found = self.model.controllers
        assert isinstance(found, Controllers)
        return found

    def shared(self, *, weighting: bool) -> Tensor:
        """The controllers' first layer over h0 and z, computed once per pass and grad mode."""
        with_z = weighting or self.model.parts.use_priority
        key = with_z, torch.is_grad_enabled()
        if key not in self._shared:
            z = self.z if with_z else None
            h0 = self.h0_rows[:, : self.rows.free]
            self._shared[key] = self.controllers.shared(self.seen(h0), z)
        return self._shared[key]

    def probability(self, h: Tensor, evidence: Tensor, best: Tensor | None = None) -> Tensor:
        """Pr(r = 1) of rows: to break (Eq. 7), or with ``best`` to update (Eq. 8)."""
        width = h.shape[-1]
        progress = evidence[..., width:] if self.model.parts.use_progress else None
        return self.controllers.probability(
            self.shared(weighting=False),
            self.seen(h),
            self.seen(evidence[..., :width]),
            None if best is None else self.seen(best),
            progress,
        )

    def error(self, h: Tensor) -> Tensor:
        """C(y, ŷ) of rows from their embeddings, without gradient. Shape ``[R, m]``."""
        with torch.no_grad():
            logits = self.model.backbone.classify(h, self.h0_rows, self.rows.nodes, self.noise)
            return self.model.criterion(logits, self.rows.labels)
