"""One function per loss of the paper. Everything has shape ``[R, m]``: run, training node.

``valid`` is 1 for a training node, or the weight of its class, and 0 for padding (runs may have
training sets of different sizes). Each loss returns one number per run, shape ``[R]``; runs are
independent, so the sum over runs has the gradient of each.

Where several processes hold the nodes, ``total`` is the sum of ``valid`` over all of them, and what
a process gets is its part: the parts add up to the loss.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from ppro.compute.ranks import ALONE, Ranks

ROUNDING = 1e-6
"""Errors that differ by less than this share of their mean are equal."""


def prediction_error(logits: Tensor, labels: Tensor) -> Tensor:
    """C_i = C(y_i, ŷ_i), the cross entropy of each node. Shapes: ``[R, m, c]``, ``[R, m]``."""
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="none").view_as(
        labels
    )


def node_mean(values: Tensor, valid: Tensor, total: Tensor | None = None) -> Tensor:
    """(1/m) Σ_i over the training nodes of each run."""
    return (values * valid).sum(-1) / (valid.sum(-1) if total is None else total)


def standardised_error(
    error: Tensor,
    valid: Tensor,
    total: Tensor | None = None,
    ranks: Ranks = ALONE,
    floor: float = 0.0,
) -> Tensor:
    """Ĉ_i = (C_i - C̄) / σ_C over the training nodes of all ranks; 0 where all errors are equal.

    Args:
        floor: added to σ_C, so that a smaller spread counts for less.
    """
    mean = ranks.sum(node_mean(error, valid, total)).unsqueeze(-1)
    centred = error - mean
    deviation = ranks.sum(node_mean(centred.square(), valid, total)).sqrt().unsqueeze(-1)
    flat = deviation <= ROUNDING * mean.abs()
    return torch.where(flat, 0.0, centred / torch.where(flat, 1.0, deviation + floor))


def min_max(error: Tensor, valid: Tensor, ranks: Ranks = ALONE) -> Tensor:
    """(C_i - C_min) / (C_max - C_min) over the training nodes; 0 where all errors are equal."""
    low = error.masked_fill(valid == 0, torch.inf).amin(-1, keepdim=True)
    high = error.masked_fill(valid == 0, -torch.inf).amax(-1, keepdim=True)
    high, low = ranks.max(high), -ranks.max(-low)
    span = high - low
    return ((error - low) / torch.where(span > 0, span, 1.0)).masked_fill(valid == 0, 0.0)


def break_loss(
    error: Tensor,
    break_probability: Tensor,
    valid: Tensor,
    total: Tensor | None = None,
    ranks: Ranks = ALONE,
) -> Tensor:
    """L_p^b (Eq. 9): the normalised error of a node against its probability to go on at l_i."""
    distance = (min_max(error, valid, ranks) - (1 - break_probability)).abs()
    return node_mean(distance, valid, total)


def update_loss(
    update_probability: Tensor,
    step_error: Tensor,
    best_error: Tensor,
    valid: Tensor,
    total: Tensor | None = None,
) -> Tensor:
    """L_p^u (Eq. 10): probability to update times what the update would cost.

    Args:
        update_probability: Pr(r_ui^(k) = 1). Shape ``[L, R, m]``.
        step_error: C_i^(k), the error of h_i^(k). Shape ``[L, R, m]``.
        best_error: the error of h̃_i as it was before step k. Shape ``[L, R, m]``.
    """
    return node_mean((update_probability * (step_error - best_error)).mean(0), valid, total)


def supervised_loss(error: Tensor, valid: Tensor, total: Tensor | None = None) -> Tensor:
    """L_g without priorities (Eq. 12): the mean error."""
    return node_mean(error, valid, total)


def faded(loss: Tensor, mean_error: Tensor, delta: Tensor) -> Tensor:
    """L_g min(1, C̄ / δ): below a mean error δ labels count less and less beside other losses.

    Of L_g = C̄ the gradient is that of Huber's loss of C̄. Where δ is 0, L_g stays as it is.

    Args:
        mean_error: C̄, without a gradient. Shape ``[R]``.
        delta: δ of each run. Shape ``[R]``.
    """
    share = (mean_error / torch.where(delta > 0, delta, 1.0)).clamp(max=1.0)
    return loss * torch.where(delta > 0, share, 1.0)


def weighted_loss(
    error: Tensor, weight: Tensor, lambda1: Tensor, valid: Tensor, total: Tensor | None = None
) -> Tensor:
    """L_g with priorities (Eq. 13): minimised over θ, maximised over w.

    Args:
        lambda1: λ1 of each run. Shape ``[R]``.
    """
    penalty = lambda1 * node_mean(weight.square(), valid, total)
    return node_mean(weight * error, valid, total) - penalty


def priority_gain(
    weight: Tensor,
    error: Tensor,
    lambda1: Tensor,
    valid: Tensor,
    total: Tensor | None = None,
    ranks: Ranks = ALONE,
    floor: float = 0.0,
) -> Tensor:
    """L_w of priorities of mean 1, after Eq. 13: mean(w Ĉ) - λ1 mean((w - 1)²), to be maximised.

    Ĉ, the standardised error, has no scale, so λ1 has none: the best w is 1 + Ĉ / (2 λ1) whatever
    the errors. Its mean is 1, it differs between nodes, and between -2 λ1 and 2 λ1 lie the Ĉ of
    the nodes whose best w lies between 0 and 2.

    Args:
        weight: w before it is divided by its mean: what holds it near 1 keeps it from a bound.
        error: C.
        lambda1: λ1 of each run. Shape ``[R]``.
        floor: as of :func:`standardised_error`.
    """
    apart = standardised_error(error, valid, total, ranks, floor)
    gain = weight * apart - lambda1.unsqueeze(-1) * (weight - 1).square()
    return node_mean(gain, valid, total)


def controller_loss(propagation: Tensor, weighting: Tensor, lambda2: Tensor) -> Tensor:
    """L_Controller = L_p - λ2 L_w (Eq. 14)."""
    return propagation - lambda2 * weighting
