"""Probabilities that are as often right as they say, and the threshold that finds a class best.

Both are fitted on validation nodes. One temperature T divides the logits of all nodes (Guo et al.,
"On Calibration of Modern Neural Networks", ICML 2017): it changes no prediction, only how sure it
is. Of two classes, the positive one is predicted from the threshold on that has the best F1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

COLDEST, HOTTEST = 0.1, 10.0
"""Between these a temperature is looked for: few validation nodes must not make it extreme."""
LEAST = 1e-38
"""The least probability that a logarithm is taken of."""
NEAR = 1e-6
"""How near the best temperature is found, as a logarithm."""


@dataclass(frozen=True)
class Calibration:
    """What the validation nodes of a run say of its probabilities.

    Args:
        temperature: divides the logits; above 1 where the run is too sure.
        positive: which of two classes is to be found; None of more than two.
        threshold: from this (uncalibrated) probability of the positive class on a node is of it;
            None where there is none, or validation nodes of one class alone.
    """

    temperature: float
    positive: int | None = None
    threshold: float | None = None

    @classmethod
    def of(cls, chances: Tensor, labels: Tensor, positive: int | None) -> Self | None:
        """Fit on the validation nodes of a run; None where there are none.

        Args:
            chances: Shape ``[m, c]``.
            labels: Shape ``[m]``.
            positive: the class to find, of two.
        """
        if not len(labels) or not bool(chances.isfinite().all()):
            return None
        chosen = (
            None if positive is None else best_threshold(chances[:, positive], labels == positive)
        )
        return cls(best_temperature(chances, labels), positive, chosen)

    def calibrated(self, chances: Tensor) -> Tensor:
        """Return probabilities at the temperature. Shape ``[m, c]``."""
        return heated(chances, self.temperature)

    def predicted(self, chances: Tensor, threshold: float) -> Tensor:
        """Return the class of every node by a threshold of the positive one. Shape ``[m]``.

        Args:
            chances: of two classes. Shape ``[m, 2]``.
        """
        assert self.positive is not None
        found = chances[:, self.positive] >= threshold
        return torch.where(found, self.positive, 1 - self.positive)

    def calibrated_threshold(self) -> float | None:
        """Return the threshold where probabilities are calibrated."""
        if self.threshold is None:
            return None
        pair = torch.tensor([[self.threshold, 1 - self.threshold]], dtype=torch.float64)
        return float(self.calibrated(pair)[0, 0])


def heated(chances: Tensor, temperature: float) -> Tensor:
    """Return the probabilities of logits that are divided by a temperature. Shape ``[m, c]``."""
    return (chances.clamp(min=LEAST).log() / temperature).softmax(-1)


def best_temperature(chances: Tensor, labels: Tensor) -> float:
    """Return the temperature of the least log loss, of labels that are a little in doubt.

    Where all m nodes are right, the loss falls as long as they get surer. So each label counts as
    wrong by one in m + 2 (Platt, "Probabilistic Outputs for Support Vector Machines", 1999).

    Args:
        chances: Shape ``[m, c]``.
        labels: Shape ``[m]``.
    """
    from scipy.optimize import minimize_scalar

    nodes, classes = chances.shape
    logs, doubt = chances.double().clamp(min=LEAST).log(), 1 / (nodes + 2)
    wanted = torch.full_like(logs, doubt / max(classes - 1, 1))
    wanted.scatter_(1, labels.unsqueeze(1), 1 - doubt)

    def loss(log_temperature: float) -> float:
        scaled = (logs / torch.tensor(log_temperature).exp()).log_softmax(-1)
        return -float((wanted * scaled).sum(-1).mean())

    ends = torch.tensor([COLDEST, HOTTEST], dtype=torch.float64).log().tolist()
    found = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": NEAR})
    return round(float(torch.tensor(found.x, dtype=torch.float64).exp()), 5)


def best_threshold(scores: Tensor, positive: Tensor) -> float | None:
    """Return the threshold with the best F1, halfway to the next lower score. Shapes ``[m]``.

    None where no node is positive or all are. Of equal thresholds the highest.
    """
    number = int(positive.sum())
    if number in (0, len(positive)):
        return None
    scores, order = scores.double().sort(descending=True)
    found = positive[order].cumsum(0)
    taken = torch.arange(1, len(scores) + 1)
    f1 = 2 * found / (taken + number)
    # A threshold cannot part nodes of equal scores: those before the last of them do not count.
    f1[:-1][scores[:-1] == scores[1:]] = -1.0
    last = int(f1.argmax())
    below = float(scores[last + 1]) if last + 1 < len(scores) else 0.0
    return (float(scores[last]) + below) / 2
