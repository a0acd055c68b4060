"""Metrics of the probabilities themselves, the lower the better."""

import math
from typing import ClassVar

import torch
from torch import Tensor

from ppro.training.metrics.base import BatchMetric

LEAST = 2.0**-52
"""The least probability that a loss is taken of, as in scikit-learn."""
BINS = 15
"""Bins of confidence in the calibration error."""


class LogLoss(BatchMetric):
    """The mean over the nodes of minus the logarithm of the true class's probability."""

    name: ClassVar[str] = "log-loss"
    title: ClassVar[str] = "log loss"
    percent: ClassVar[bool] = False
    lower_is_better: ClassVar[bool] = True
    worst: ClassVar[float] = -math.log(LEAST)

    def values(self, chances: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the mean."""
        of_label = chances.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return -(of_label.clamp(LEAST, 1).log() * counted).sum(-1) / counted.sum(-1)


class CalibrationError(BatchMetric):
    """The expected calibration error: how far confidence is from the share that is right.

    Nodes are put into 15 bins by the probability of their most probable class; the distance of
    its mean from the share of right predictions is averaged over the bins by their nodes.
    """

    name: ClassVar[str] = "calibration-error"
    title: ClassVar[str] = "calibration error"
    percent: ClassVar[bool] = False
    lower_is_better: ClassVar[bool] = True
    worst: ClassVar[float] = 1.0

    def values(self, chances: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the weighted mean distance."""
        confidence, predicted = chances.max(-1)
        surplus = (confidence - (predicted == labels).to(confidence.dtype)) * counted
        # Bins are open below and closed above, so that a probability of 1 is in the last one.
        bins = ((BINS * confidence).ceil().long() - 1).clamp(0, BINS - 1)
        sums = torch.zeros(labels.shape[0], BINS, dtype=surplus.dtype, device=surplus.device)
        return sums.scatter_add_(1, bins, surplus).abs().sum(-1) / counted.sum(-1)
