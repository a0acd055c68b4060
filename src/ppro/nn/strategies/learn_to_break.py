"""L2B: learn to break."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from ppro.compute.device import may_ask
from ppro.nn import losses
from ppro.nn.strategies.base import Ahead, Chance, Path, Strategy, View
from ppro.parts.choices import Kind


class LearnToBreak(Strategy):
    """A node stops at the first step k in 1 .. L whose break probability exceeds ε, else at L.

    The graph itself goes on propagating, since neighbours still need h_i^(k).
    """

    name: ClassVar[str] = "l2b"
    title: ClassVar[str] = "L2B"
    verb: ClassVar[str] = "break"
    ahead: ClassVar[bool] = True
    default_bias: ClassVar[float] = -2.0
    values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {
        "homophilous": {
            "epsilon": (0.9, 0.7, 0.5, 0.3),
            "lambda1": (1.0, 0.1),
            "lr_controller": (1e-3, 1e-2),
            "propagation_bias": (-2.0, 0.0),
        },
        "heterophilous": {
            "epsilon": (0.3, 0.5, 0.7, 0.9),
            "lambda1": (0.1, 1.0),
            "lr_controller": (1e-2, 1e-3),
            "propagation_bias": (0.0, -2.0),
        },
    }
    wide_values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {
        "heterophilous": {"judge_share": (0.0, 0.2)}
    }

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.evidence = torch.zeros(())
        self.seen_ahead: Ahead | None = None
        self.open = torch.ones_like(self.steps, dtype=torch.bool)

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Break the rows whose probability exceeds ε at step k."""
        with torch.no_grad():
            wants = self.chance(h, evidence) > self.view.epsilon
        chosen = self.open if last else self.open & wants
        self.take(chosen, k, h)
        if self.view.learning:
            before = self.evidence if k > 1 else torch.zeros_like(evidence)
            self.evidence = torch.where(chosen.unsqueeze(-1), evidence, before)
        self.open = self.open & ~chosen

    def observe_steps(self, first: int, h: Tensor, ahead: Ahead, *, last: bool) -> None:
        """Break the rows at the first of the steps where their probability exceeds ε."""
        self.seen_ahead, (runs, steps, rows, width) = ahead, h.shape
        wants = torch.ones((runs, steps, rows), dtype=torch.bool, device=h.device)
        judged = steps - 1 if last else steps
        if judged:
            chances = ahead.break_probabilities(h[:, :judged])
            torch.gt(chances, self.view.epsilon.unsqueeze(1), out=wants[:, :judged])
        found, which = wants.max(1)
        chosen = found.logical_and_(self.open)
        asks = may_ask(h)
        if asks and not bool(chosen.any()):
            return
        places = torch.arange(runs, device=h.device).mul_(steps).unsqueeze(1) + which
        places = places.mul_(rows).add_(torch.arange(rows, device=h.device))
        picked = h.reshape(-1, width).index_select(0, places.view(-1)).view(runs, rows, width)
        if not (asks and bool(chosen.all())):
            picked = torch.where(chosen.unsqueeze(-1), picked, self.h_tilde)
        self.h_tilde = picked
        self.steps = torch.where(chosen, which + first, self.steps)
        self.open = self.open & ~chosen

    def chance(self, h: Tensor, evidence: Tensor) -> Tensor:
        """Return Pr(r_b = 1) (Eq. 7)."""
        return self.view.probability(h.detach(), evidence.detach())

    def settled(self) -> bool:
        """Tell whether every row has stopped; on a GPU asking would stall it, so never there."""
        return may_ask(self.open) and self.view.ranks.all(not bool(self.open.any()))

    def loss(self, error: Tensor) -> Tensor:
        """Return L_p^b (Eq. 9), from the probability at the step where each row stopped."""
        view = self.view
        if self.seen_ahead is None:
            p = self.chance(self.h_tilde, self.evidence)
        else:
            p = self.seen_ahead.taught_probability(self.h_tilde.unsqueeze(1)).squeeze(1)
        return losses.break_loss(error, p, view.valid, view.total, view.ranks)

    @classmethod
    def follow(cls, chance: Chance, start: Tensor, last: int, cost: Tensor | None) -> Path:
        """Stop at the first step 0 .. L - 1 that is worth it, else at L.

        A step is compared with what this very rule gets by going on (optimal stopping), not with
        the best of all later steps, which nobody knows in advance.
        """
        logits = torch.stack([chance(k, None) for k in range(last)])
        with torch.no_grad():
            steps = torch.arange(last, device=start.device).view(-1, 1, 1)
            # Where a row stops that has come as far as each step.
            ends = torch.where(logits > 0, steps, last).flip(0).cummin(0).values.flip(0)
            if cost is None:
                return Path(ends[0], logits, None)
            later = torch.cat([ends[1:], torch.full_like(ends[:1], last)])
            return Path(ends[0], logits, cost[:last] - cost.gather(0, later))
