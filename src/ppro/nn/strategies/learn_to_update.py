"""L2U: learn to update."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from ppro.nn import losses
from ppro.nn.strategies.base import Ahead, Chance, Path, Strategy, View
from ppro.parts.choices import Kind


class LearnToUpdate(Strategy):
    """h̃ starts at h_0 and moves to h_k whenever the update probability exceeds ε."""

    name: ClassVar[str] = "l2u"
    title: ClassVar[str] = "L2U"
    verb: ClassVar[str] = "update"
    ahead: ClassVar[bool] = True
    told: ClassVar[str] = "It kept step"
    default_bias: ClassVar[float] = 4.0
    kappa: ClassVar[float] = 3.0
    values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {
        "homophilous": {
            "epsilon": (0.1, 0.3, 0.5, 0.7),
            "lambda1": (1.0, 0.1),
            "lr_controller": (1e-3, 1e-4, 1e-2),
            "propagation_bias": (4.0, 2.0, 0.0),
        },
        "heterophilous": {
            "epsilon": (0.5, 0.3, 0.7),
            "lambda1": (0.1, 1.0),
            "lr_controller": (1e-2, 1e-3),
            "propagation_bias": (0.0, 4.0),
        },
    }
    wide_values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {
        "heterophilous": {"judge_share": (0.2, 0.0), "propagation_bias": (2.0, 0.0, 4.0)}
    }

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.best_error = view.error(view.h0) if view.learning else torch.zeros(())
        self.trace: list[tuple[Tensor, Tensor, Tensor]] = []
        self.seen_ahead: Ahead | None = None
        self.steps_seen: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Update the rows whose probability exceeds ε at step k."""
        with torch.set_grad_enabled(self.view.learning):
            p = self.chance(h, evidence)
        chosen = p.detach() > self.view.epsilon
        if self.view.learning:
            error = self.view.error(h)
            self.trace.append((p, error, self.best_error))
            self.best_error = torch.where(chosen, error, self.best_error)
        self.take(chosen, k, h)

    def observe_steps(self, first: int, h: Tensor, ahead: Ahead, *, last: bool) -> None:
        """Update one step after the other; the loss looks at all of them together."""
        self.seen_ahead, learning = ahead, self.view.learning
        errors = ahead.errors(h).unbind(1) if learning else ()
        seen = (h.clone() if learning else h).unbind(1)
        for j, h_k in enumerate(seen):
            chosen = ahead.update_probability(h_k, self.h_tilde) > self.view.epsilon
            if learning:
                self.steps_seen.append((h_k, self.h_tilde, errors[j], self.best_error))
                self.best_error = torch.where(chosen, errors[j], self.best_error)
            self.take(chosen, first + j, h_k)

    def chance(self, h: Tensor, evidence: Tensor) -> Tensor:
        """Return Pr(r_u = 1) (Eq. 8)."""
        return self.view.probability(h.detach(), evidence.detach(), self.h_tilde.detach())

    def loss(self, error: Tensor) -> Tensor:
        """Return L_p^u (Eq. 10)."""
        view = self.view
        if self.seen_ahead is None:
            parts = (torch.stack(part) for part in zip(*self.trace, strict=True))
            p, step_error, best_error = parts
        else:
            parts = (torch.stack(part, 1) for part in zip(*self.steps_seen, strict=True))
            h, best, *errors = parts
            p = self.seen_ahead.taught_probability(h, best).transpose(0, 1)
            step_error, best_error = (part.transpose(0, 1) for part in errors)
        return losses.update_loss(p, step_error, best_error, view.valid, view.total)

    @classmethod
    def follow(cls, chance: Chance, start: Tensor, last: int, cost: Tensor | None) -> Path:
        """Begin at step 0 and move to every step that beats the best so far."""
        logits, gains = [], []
        best, best_cost = start, None if cost is None else cost[0]
        for k in range(1, last + 1):
            logits.append(chance(k, best))
            moves = logits[-1].detach() > 0
            if cost is not None and best_cost is not None:
                gains.append(cost[k] - best_cost)
                best_cost = torch.where(moves, cost[k], best_cost)
            best = torch.where(moves, k, best)
        return Path(best, torch.stack(logits), torch.stack(gains) if gains else None)
