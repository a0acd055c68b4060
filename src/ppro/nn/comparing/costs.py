"""What a step costs a node, from errors of backbones that have not seen its label."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from ppro.nn import losses

DEAREST = 6.0
"""The largest cross entropy that counts."""
SMOOTHING = 0.93
"""Share of the past in the errors by which the common depth is found, from epoch to epoch."""
EQUAL = 1e-3
"""Costs whose spread is far below it are equal."""
THIN = 500.0
"""With so many training nodes the penalty on priorities is twice what it is with very many."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """Honest errors of the training rows at every step.

    Args:
        cost: C_k, the cross entropy. Shape ``[L + 1, R, m]``.
        wrong: 1 where the class is not the predicted one. Shape ``[L + 1, R, m]``.
    """

    cost: Tensor
    wrong: Tensor

    @classmethod
    def of(cls, p: Tensor, labels: Tensor) -> Judgement:
        """Judge predictions ``[L + 1, R, m, c]`` by the labels ``[R, m]``."""
        true = labels.expand(p.shape[0], -1, -1).unsqueeze(-1)
        cost = -p.gather(-1, true).squeeze(-1).clamp(min=1e-9).log()
        wrong = (p.argmax(-1) != labels).to(p.dtype)
        return cls(cost.clamp(max=DEAREST), wrong)


def row_mean(values: Tensor, valid: Tensor) -> Tensor:
    """Return Σ v valid / Σ valid over the rows. Shapes: ``[..., R, m]`` to ``[..., R]``."""
    return (values * valid).sum(-1) / valid.sum(-1).clamp(min=1e-9)


def common_depth(wrong: Tensor, valid: Tensor) -> Tensor:
    """Return k*: the deepest step whose mean error is within one standard error of the least.

    Args:
        wrong: smoothed errors. Shape ``[L + 1, R, m]``.

    Returns:
        Shape ``[R]``, int64.
    """
    best = row_mean(wrong, valid).argmin(0)
    apart = wrong - at_step(wrong, best.unsqueeze(-1).expand(-1, wrong.shape[-1]))
    mean = row_mean(apart, valid)
    deviation = row_mean((apart - mean.unsqueeze(-1)).square(), valid).sqrt()
    count = (valid > 0).sum(-1).clamp(min=1)
    level = mean <= deviation / count.sqrt() + 1e-9
    return level.shape[0] - 1 - level.flip(0).to(torch.int8).argmax(0)


def priced(cost: Tensor, common: Tensor, valid: Tensor, kappa: Tensor) -> Tensor:
    """Return C'_k: the cost with the price of leaving the common depth. ``[L + 1, R, m]``.

    The price is κ standard errors of the differences between steps, so it shrinks as labels are
    many: the thinner the evidence, the dearer a personal step.

    Args:
        common: k*. Shape ``[R]``.
        kappa: κ of each run. Shape ``[R]``.
    """
    steps, _, rows = cost.shape
    apart = cost - at_step(cost, common.unsqueeze(-1).expand(-1, rows))
    spread = (row_mean(apart.square(), valid).sum(0) / max(steps - 1, 1)).sqrt()
    price = kappa * spread / (valid > 0).sum(-1).clamp(min=1).sqrt()
    away = torch.arange(steps, device=cost.device).view(-1, 1) != common
    return cost + (away * price).unsqueeze(-1)


def at_step(values: Tensor, steps: Tensor) -> Tensor:
    """Return the values of each row at its step. ``[L + 1, R, m, ...]``, ``[R, m]`` to the rest."""
    index = steps.view(1, *steps.shape, *(1 for _ in values.shape[3:]))
    return values.gather(0, index.expand(1, *steps.shape, *values.shape[3:])).squeeze(0)


def comparing_loss(logits: Tensor, gains: Tensor, valid: Tensor) -> Tensor:
    """Return L_p: each decision weighed by what it is worth. Shape ``[R]``.

    Args:
        logits: of the probability to take a step. Shape ``[S, R, m]``.
        gains: a_k, what taking it costs more than the alternative. Shape ``[S, R, m]``.
    """
    worth = gains.abs() * valid
    error = F.binary_cross_entropy_with_logits(
        logits, (gains < 0).to(logits.dtype), reduction="none"
    )
    return (error * worth).sum((0, 2)) / (worth.sum((0, 2)) + 1e-6)


def penalty(lambda1: Tensor, valid: Tensor) -> Tensor:
    """Return λ1 (1 + 500 / m): the thinner the evidence, the closer priorities stay to 1. ``[R]``.

    Args:
        lambda1: λ1 of each run. Shape ``[R]``.
        valid: above 0 for the m rows that count. Shape ``[R, m]``.
    """
    return lambda1 * (1 + THIN / (valid > 0).sum(-1).clamp(min=1))


def priority_gain(weights: Tensor, cost: Tensor, lambda1: Tensor, valid: Tensor) -> Tensor:
    """Return what the weight controller maximises, whatever the scale of the costs. Shape ``[R]``.

    mean(w Ĉ) - λ1 mean((w - 1)²) with Ĉ the standardised cost: the optimum 1 + Ĉ / (2 λ1) lies
    inside, and differs between nodes (after Eq. 13).

    Args:
        weights: w, of mean 1. Shape ``[R, m]``.
        cost: at the steps that were chosen. Shape ``[R, m]``.
    """
    return losses.priority_gain(weights, cost, lambda1, valid, floor=EQUAL)
