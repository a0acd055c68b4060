"""Metrics of how often which class is predicted for which."""

from typing import ClassVar

import torch
from torch import Tensor

from ppro.training.metrics.base import BatchMetric


def confusion(predicted: Tensor, labels: Tensor, counted: Tensor, classes: int) -> Tensor:
    """Count the nodes of every label (rows) by predicted class (columns). Shape ``[R, c, c]``.

    Args:
        predicted: Shape ``[R, m]``.
        labels: Shape ``[R, m]``.
        counted: 1 for nodes that count, else 0. Shape ``[R, m]``.
    """
    runs = labels.shape[0]
    counts = torch.zeros(runs, classes * classes, dtype=torch.float64, device=labels.device)
    counts.scatter_add_(1, labels * classes + predicted, counted.to(torch.float64))
    return counts.view(runs, classes, classes)


class CountMetric(BatchMetric):
    """A metric of the confusion matrix alone."""

    def values(self, chances: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the metric; see :meth:`BatchMetric.values`."""
        return self.of_counts(confusion(chances.argmax(-1), labels, counted, chances.shape[-1]))

    def of_counts(self, counts: Tensor) -> Tensor:
        """Return the metric of confusion matrices. Shapes ``[R, c, c]`` to ``[R]``."""
        raise NotImplementedError


class Accuracy(CountMetric):
    """The share of nodes whose most probable class is the true one."""

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "accuracy"
    is_accuracy: ClassVar[bool] = True

    def of_counts(self, counts: Tensor) -> Tensor:
        """Return the share."""
        return hits(counts).sum(-1) / counts.sum((-2, -1))


class BalancedAccuracy(CountMetric):
    """The mean over the classes of the share of their nodes that is found."""

    name: ClassVar[str] = "balanced-accuracy"
    title: ClassVar[str] = "balanced accuracy"

    def of_counts(self, counts: Tensor) -> Tensor:
        """Return the mean recall of the classes that occur."""
        nodes = counts.sum(-1)
        return _mean_over(nodes > 0, hits(counts) / nodes.clamp(min=1))


class MacroF1(CountMetric):
    """The mean over the classes of F1."""

    name: ClassVar[str] = "macro-f1"
    title: ClassVar[str] = "macro F1"

    def of_counts(self, counts: Tensor) -> Tensor:
        """Return the mean F1 of the classes that occur or are predicted."""
        return _mean_over(counts.sum(-1) + counts.sum(-2) > 0, f1(counts))


class WeightedF1(CountMetric):
    """The mean of F1 in which every class counts as much as it has nodes."""

    name: ClassVar[str] = "weighted-f1"
    title: ClassVar[str] = "weighted F1"

    def of_counts(self, counts: Tensor) -> Tensor:
        """Return the mean F1."""
        nodes = counts.sum(-1)
        return (nodes * f1(counts)).sum(-1) / nodes.sum(-1)


def hits(counts: Tensor) -> Tensor:
    """Return the nodes of every class that are predicted right. Shape ``[R, c]``."""
    return counts.diagonal(dim1=-2, dim2=-1)


def f1(counts: Tensor) -> Tensor:
    """Return F1 of every class, 0 of those that neither occur nor are predicted. ``[R, c]``."""
    return 2 * hits(counts) / (counts.sum(-1) + counts.sum(-2)).clamp(min=1)


def _mean_over(classes: Tensor, values: Tensor) -> Tensor:
    """Return the mean over some of the classes; NaN over none."""
    return (classes * values).sum(-1) / classes.sum(-1)
