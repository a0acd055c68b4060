"""The comparing controllers: a bias for each step that all nodes share, and a personal part."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import added_product, product
from ppro.compute.layers import zeros
from ppro.nn.comparing.costs import at_step, row_mean
from ppro.nn.comparing.evidence import EXTRA, LIMIT, of_best, width
from ppro.nn.strategies import Path, Strategy


class ComparingControllers(nn.Module):
    """F_p and F_w over evidence: u = ReLU(x W + b), logit_k = u·v + b_k, w ∝ softplus(u·v_w + b_w).

    The bias b_k is what all nodes have in common and learns freely; W and v, the personal part,
    are held small where labels are few. What standardises evidence is kept with the weights.

    Args:
        rngs: one generator of initial weights per run.
        measures: number of priority measures.
        classes: number of classes.
        steps: L.
        units: size of the first layer.
    """

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        measures: int,
        classes: int,
        steps: int,
        units: int,
    ) -> None:
        super().__init__()
        seen = width(measures, classes)
        self.classes, self.last = classes, steps
        drawn = [torch.randn(seen + EXTRA, units, generator=rng) / math.sqrt(seen) for rng in rngs]
        self.weight = nn.Parameter(torch.stack(drawn))
        self.bias, self.head = zeros(rngs, 1, units), zeros(rngs, units, 1)
        self.step_bias = zeros(rngs, steps + 1)
        self.weight_head, self.weight_bias = zeros(rngs, units, 1), zeros(rngs, 1)
        self.mean, self.deviation = zeros(rngs, seen), zeros(rngs, seen)
        self.scale, self.mean_weight = zeros(rngs, steps + 1), zeros(rngs, 1)
        for parameter in (self.deviation, self.scale, self.mean_weight):
            parameter.data += 1

    def held(self) -> list[nn.Parameter]:
        """Return the personal part, whose size is held down."""
        return [self.weight, self.head]

    def learn_scale(self, factors: Tensor) -> None:
        """Keep the factors that give all steps one spread. Shape ``[L + 1, R]``."""
        self.scale.data.copy_(factors.T)

    def scaled(self, scores: Tensor) -> Tensor:
        """Return P_k from centred class scores of all steps. ``[L + 1, R, m, c]``."""
        return (scores * self.scale.detach().T.view(*scores.shape[:2], 1, 1)).softmax(-1)

    def learn_statistics(self, x: Tensor, valid: Tensor) -> None:
        """Keep mean and deviation of the evidence over rows and steps. ``[L + 1, R, m, f]``."""
        counted = (valid > 0).to(x.dtype).unsqueeze(-1)
        total = (counted.sum(1) * x.shape[0]).clamp(min=1)
        mean = (x * counted).sum((0, 2)) / total
        spread = ((x - mean.unsqueeze(1)).square() * counted).sum((0, 2)) / total
        self.mean.data.copy_(mean)
        self.deviation.data.copy_(spread.sqrt() + 1e-3)

    def standardised(self, x: Tensor) -> Tensor:
        """Return evidence on one scale, cut off where it is extreme."""
        mean, deviation = (s.detach().unsqueeze(1) for s in (self.mean, self.deviation))
        return ((x - mean) / deviation).clamp(-LIMIT, LIMIT)

    def follow(self, strategy: type[Strategy], x: Tensor, cost: Tensor | None = None) -> Path:
        """Let rows walk through the steps by the strategy's rule.

        Args:
            x: standardised evidence. Shape ``[L + 1, R, m, f]``.
            cost: C'_k where the controllers learn, else None. Shape ``[L + 1, R, m]``.
        """

        every, alone = self._of_all(x), None

        def chance(k: int, best: Tensor | None) -> Tensor:
            nonlocal alone
            if best is None:
                alone = self._logits(every) if alone is None else alone
                return alone[k]
            share = best.to(x.dtype) / self.last
            more = of_best(x[k], at_step(x, best), share, self.classes)
            u = F.relu(added_product(every[:, k], more, self.weight[:, x.shape[-1] :]))
            return product(u, self.head).squeeze(-1) + self.step_bias[:, k : k + 1]

        start = torch.zeros(x.shape[1:3], dtype=torch.int64, device=x.device)
        return strategy.follow(chance, start, self.last, cost)

    def _of_all(self, x: Tensor) -> Tensor:
        """Return x W + b of all steps, W of their own evidence alone. ``[R, L + 1, m, u]``."""
        steps, runs, rows, seen = x.shape
        flat = x.transpose(0, 1).reshape(runs, steps * rows, seen)
        return added_product(self.bias, flat, self.weight[:, :seen]).view(runs, steps, rows, -1)

    def _logits(self, every: Tensor) -> Tensor:
        """Return the logits of all steps by their own evidence alone. ``[L + 1, R, m]``."""
        runs, steps, rows, units = every.shape
        u = F.relu(every).view(runs, steps * rows, units)
        logits = product(u, self.head).view(runs, steps, rows) + self.step_bias.unsqueeze(-1)
        return logits.transpose(0, 1)

    def _units(self, x: Tensor) -> Tensor:
        return F.relu(added_product(self.bias, x, self.weight[:, : x.shape[-1]]))

    def raw_weight(self, x: Tensor) -> Tensor:
        """Return w before it is brought to mean 1, from the evidence at the chosen step."""
        score = product(self._units(x), self.weight_head).squeeze(-1) + self.weight_bias
        return F.softplus(score + math.log(math.e - 1))

    def weights(self, x: Tensor, valid: Tensor | None = None) -> Tensor:
        """Return w: of mean 1 over the rows that count, or over those of the last judging.

        Args:
            x: standardised evidence at the chosen steps. Shape ``[R, m, f]``.
            valid: the rows that count, or None. Shape ``[R, m]``.
        """
        raw = self.raw_weight(x)
        if valid is None:
            return raw / self.mean_weight.detach()
        return raw / row_mean(raw, valid).unsqueeze(-1)
