"""What comparing controllers see of a node at each step: its predictions and its priority.

Numbers made of predictions mean the same in every backbone, so what the controllers learn from the
view of a judge holds for that of the backbone itself; hidden vectors would not carry over.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

SMALLEST = 1e-9
OF_BEST = 5
"""How many numbers of the best step so far L2U sees besides: the first ones of the evidence."""
EXTRA = OF_BEST + 2
"""All that L2U sees besides: these, the agreement of both predictions, and the best step."""
PLAIN = 13
"""Numbers of the evidence beside z and two predictions."""
LIMIT = 5.0
"""Standardised evidence is cut off there."""
OF_STEP = (
    "confidence",
    "lead over the second class",
    "uncertainty",
    "agreement with its neighbours",
    "agreement among its neighbours",
    "change since the step before",
    "agreement with the steps so far",
    "agreement with step 0",
)
"""What the numbers of a step are called, in their order; each lies within 0 and 1."""
OF_NODE = (
    "confidence at step 0",
    "uncertainty at step 0",
    "agreement with its neighbours at step 0",
    "agreement among its neighbours at step 0",
    "step",
)
"""What the numbers behind them are called, up to z and the two predictions."""


def evidence(p: Tensor, near: Tensor, z: Tensor) -> Tensor:
    """Return x_k of the rows at every step; step k tells nothing of later steps.

    Args:
        p: P_k, the predictions of the rows. Shape ``[L + 1, R, m, c]``.
        near: the mean prediction of their neighbours. Shape ``[L + 1, R, m, c]``.
        z: their priority. Shape ``[R, m, q]``.

    Returns:
        Shape ``[L + 1, R, m, 13 + q + 2 c]``.
    """
    steps, runs, rows, classes = p.shape
    top = p.topk(min(2, classes), -1).values
    entropy = -torch.special.xlogy(p, p).sum(-1) / math.log(max(classes, 2))
    agreement, neighbours = (p * near).sum(-1), near.amax(-1)
    change = F.pad((p[1:] - p[:-1]).abs().sum(-1) / 2, (0, 0, 0, 0, 1, 0))
    counts = torch.arange(1, steps + 1, device=p.device, dtype=p.dtype).view(-1, 1, 1, 1)
    so_far = (p * (p.cumsum(0) / counts)).sum(-1)
    each = [top[..., 0], top[..., 0] - top[..., -1], entropy, agreement, neighbours]
    each += [change, so_far, (p * p[:1]).sum(-1)]
    first = [part[:1].expand(steps, -1, -1) for part in (each[0], *each[2:OF_BEST])]
    depth = torch.linspace(0, 1, steps, device=p.device, dtype=p.dtype).view(-1, 1, 1)
    each += [*first, depth.expand(steps, runs, rows)]
    shown = [torch.stack(each, -1), z.expand(steps, -1, -1, -1), p, p[:1].expand_as(p)]
    return torch.cat(shown, -1)


def width(measures: int, classes: int) -> int:
    """Return how many numbers of a step the controllers see."""
    return PLAIN + measures + 2 * classes


def of_best(x: Tensor, best: Tensor, step: Tensor, classes: int) -> Tensor:
    """Return what L2U sees at a step beside its evidence: of the best step so far. ``[R, m, 7]``.

    Args:
        x: evidence of the step. Shape ``[R, m, f]``.
        best: evidence of the best step. Shape ``[R, m, f]``.
        step: the best step as a share of L. Shape ``[R, m]``.
    """
    own, other = (part[..., -2 * classes : -classes] for part in (x, best))
    agreement = (own * other).sum(-1, keepdim=True) / classes
    return torch.cat([best[..., :OF_BEST], agreement, step.unsqueeze(-1)], -1)


def log_predictions(logits: Tensor) -> Tensor:
    """Return log P of each class, none below that of the smallest probability that counts."""
    # Written out, since log_softmax over a few classes is slow on a CPU; numbers too small to be
    # normal are slow everywhere there.
    return (logits - logits.logsumexp(-1, keepdim=True)).clamp(min=math.log(SMALLEST))


def centred_scores(log_p: Tensor) -> Tensor:
    """Return log-probabilities less their mean over the classes."""
    return log_p - log_p.mean(-1, keepdim=True)


def equal_scale(scores: Tensor, valid: Tensor) -> Tensor:
    """Return factors that give the scores of all steps one spread. Shape ``[L + 1, R]``.

    Without them a step is chosen for being loud. No label plays a part.

    Args:
        scores: centred class scores. Shape ``[L + 1, R, m, c]``.
        valid: above 0 for rows that count. Shape ``[R, m]``.
    """
    counted = (valid > 0).to(scores.dtype)
    spread = (scores.square().mean(-1) * counted).sum(-1) / counted.sum(-1).clamp(min=1)
    spread = spread.sqrt() + 1e-3
    return spread.mean(0, keepdim=True) / spread
