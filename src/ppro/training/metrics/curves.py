"""Metrics of the order in which a class's probability puts the nodes, ties counted as ties."""

from typing import ClassVar

import torch
from torch import Tensor

from ppro.training.metrics.base import BatchMetric

RARE = 1 / 3
"""Of two classes the first is the positive one where it has less than this share of the nodes."""


def positive_class(labels: Tensor, counted: Tensor) -> Tensor:
    """Return which of two classes is the one to find, in every run. Shape ``[R]``.

    It is the second, as in scikit-learn, unless the first is by far the rarer one: classes are
    often in alphabetical order, and "fraud" comes before "usual".

    Args:
        labels: Shape ``[R, m]``.
        counted: 1 for nodes that count, else 0. Shape ``[R, m]``.
    """
    first = ((labels == 0) * counted).sum(-1)
    return (~((first > 0) & (first < RARE * counted.sum(-1)))).long()


class _OneAgainstRest(BatchMetric):
    """The mean over the classes of a curve's number; of two classes that of the positive one."""

    def values(self, chances: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the mean over the classes that occur and do not stand alone."""
        if chances.shape[-1] == 2:
            chosen = positive_class(labels, counted)
            scores = chances.gather(-1, chosen.view(-1, 1, 1).expand(*labels.shape, 1))[..., 0]
            return self._of_class(scores, (labels == chosen.unsqueeze(-1)) * counted, counted)
        found = torch.stack(
            [
                self._of_class(chances[..., c].contiguous(), (labels == c) * counted, counted)
                for c in range(chances.shape[-1])
            ]
        )
        return found.nanmean(0)

    def _of_class(self, scores: Tensor, positive: Tensor, counted: Tensor) -> Tensor:
        """Return the number of a class, NaN where all or none of the nodes are of it. ``[R]``."""
        number = positive.sum(-1)
        alone = (number == 0) | (number == counted.sum(-1))
        return torch.where(alone, torch.nan, self.of_class(scores, positive, counted))

    def of_class(self, scores: Tensor, positive: Tensor, counted: Tensor) -> Tensor:
        """Return the number of a class. Shapes ``[R, m]`` to ``[R]``."""
        raise NotImplementedError


class RocAuc(_OneAgainstRest):
    """The area under the ROC curve; of several classes, the mean of one against the rest."""

    name: ClassVar[str] = "roc-auc"
    title: ClassVar[str] = "ROC AUC"

    def of_class(self, scores: Tensor, positive: Tensor, counted: Tensor) -> Tensor:
        """Return the chance that a node of the class is before one of another."""
        below, up_to = (_below(scores, counted, or_equal=equal) for equal in (False, True))
        number = positive.sum(-1)
        others = counted.sum(-1) - number
        ranks = (positive * (below + up_to + 1) / 2).sum(-1)
        return (ranks - number * (number + 1) / 2) / (number * others)


class AveragePrecision(_OneAgainstRest):
    """The mean precision over the nodes of a class, each as the last that is taken.

    Of two classes that of the positive one (see :func:`positive_class`), of several the mean.
    """

    name: ClassVar[str] = "average-precision"
    title: ClassVar[str] = "average precision"

    def of_class(self, scores: Tensor, positive: Tensor, counted: Tensor) -> Tensor:
        """Return the mean over the nodes of the class."""
        taken = counted.sum(-1, keepdim=True) - _below(scores, counted)
        number = positive.sum(-1, keepdim=True)
        found = number - _below(scores, positive)
        return (positive * found / taken.clamp(min=1)).sum(-1) / number[:, 0]


def _below(scores: Tensor, among: Tensor, *, or_equal: bool = False) -> Tensor:
    """Return for every score how many among some are below it, or not above it.

    Shapes ``[R, m]``, in double precision.
    """
    last = torch.where(among > 0, scores, torch.inf).sort(-1).values
    return torch.searchsorted(last, scores, right=or_equal).to(torch.float64)
