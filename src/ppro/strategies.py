"""How a node gets its number of steps: learn to break (L2B), learn to update (L2U), or full depth.

A selector watches the propagation of the chosen rows step by step and keeps, for every row, the
best embedding so far (h̃) and the step it came from (l).
Selection is hard, and the controllers see embeddings without their gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from ppro.ranks import ALONE, Ranks

Strategy = Literal["l2b", "l2u", "none"]

Probability = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Pr(r = 1) from the embeddings h_k, the evidence and the best embeddings h̃.

The evidence of a step is its aggregate ĥ_k, and what else the controllers are shown of it.
"""


class Selector:
    """Full depth: every row takes h_L. The base of the two learned strategies.

    Shapes: embeddings ``[R, m, d]``; steps ``[R, m]``.

    Attributes:
        ranks: the processes that hold the rows of the graph.
    """

    ranks: Ranks = ALONE
    probability: Probability

    def __init__(self, h0: Tensor) -> None:
        self.h_tilde = h0
        self.steps = torch.zeros(h0.shape[:2], dtype=torch.int64, device=h0.device)

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Take note of step k."""
        if last:
            self.h_tilde = h
            self.steps = torch.full_like(self.steps, k)

    def settled(self) -> bool:
        """Whether no later step can change anything."""
        return False

    def _probability(self, h: Tensor, evidence: Tensor) -> Tensor:
        """Pr(r = 1) of the rows."""
        return self.probability(*(t.detach() for t in (h, evidence, self.h_tilde)))

    def _take(self, chosen: Tensor, k: int, h: Tensor) -> None:
        self.h_tilde = torch.where(chosen.unsqueeze(-1), h, self.h_tilde)
        self.steps = torch.where(chosen, k, self.steps)


class LearnToBreak(Selector):
    """L2B: a node stops at the first step k in 1 .. L whose break probability exceeds ε, else at L.

    The graph itself goes on propagating, since neighbours still need h_i^(k).

    Args:
        judged: whether the evidence at the step of each row will be asked for.
    """

    def __init__(
        self, h0: Tensor, probability: Probability, epsilon: Tensor, *, judged: bool = True
    ) -> None:
        super().__init__(h0)
        self.probability = probability
        self.epsilon = epsilon
        self.judged = judged
        self.evidence = torch.zeros(())
        self.open = torch.ones_like(self.steps, dtype=torch.bool)

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Break the rows whose probability exceeds ε at step k."""
        with torch.no_grad():
            wants = self._probability(h, evidence) > self.epsilon
        chosen = self.open if last else self.open & wants
        self._take(chosen, k, h)
        if self.judged:
            before = self.evidence if k > 1 else torch.zeros_like(evidence)
            self.evidence = torch.where(chosen.unsqueeze(-1), evidence, before)
        self.open = self.open & ~chosen

    def settled(self) -> bool:
        """Whether every row has stopped; on a GPU asking would stall it, so there it never says."""
        return not self.open.is_cuda and self.ranks.all(not bool(self.open.any()))


class LearnToUpdate(Selector):
    """L2U: h̃ starts at h_0 and moves to h_k whenever the update probability exceeds ε.

    Args:
        judge: the errors C of embeddings; given when the controllers learn, else None.
    """

    def __init__(
        self,
        h0: Tensor,
        probability: Probability,
        epsilon: Tensor,
        judge: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__(h0)
        self.probability = probability
        self.epsilon = epsilon
        self.judge = judge
        self.best_error = None if judge is None else judge(h0)
        self.trace: list[tuple[Tensor, Tensor, Tensor]] = []

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Update the rows whose probability exceeds ε at step k."""
        with torch.set_grad_enabled(self.judge is not None):
            p = self._probability(h, evidence)
        chosen = p.detach() > self.epsilon
        if self.judge is not None and self.best_error is not None:
            error = self.judge(h)
            self.trace.append((p, error, self.best_error))
            self.best_error = torch.where(chosen, error, self.best_error)
        self._take(chosen, k, h)
