"""What a prediction is worth: metrics over the predictions of all nodes that count.

A metric sees gathered predictions, so one that does not add up over processes, such as the area
under a curve, is exact on any number of ranks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.parts import METRICS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Metric(ABC):
    """A number for predictions, the higher the better. A subclass with a ``name`` is known by it.

    Attributes:
        name: what settings and files call it.
        title: what tables and reports call it.
        is_accuracy: whether it is the accuracy, which training counts anyway.
        percent: whether it is shown in percent.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    is_accuracy: ClassVar[bool] = False
    percent: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            METRICS.register(cls.name, cls)

    @abstractmethod
    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the metric of some nodes; NaN where it is not defined.

        Args:
            probabilities: of every class. Shape ``[m, c]``.
            labels: the true classes. Shape ``[m]``.
        """

    def of_runs(self, probabilities: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the metric of every run over the nodes that count in it. Shape ``[R]``.

        Args:
            probabilities: Shape ``[R, m, c]``.
            labels: Shape ``[R, m]``.
            counted: above 0 for nodes that count. Shape ``[R, m]``.
        """
        found = []
        for chances, classes, inside in zip(probabilities, labels, counted > 0, strict=True):
            told = chances[inside].detach().to("cpu", torch.float64).numpy()
            found.append(self.measure(told, classes[inside].cpu().numpy()) if len(told) else np.nan)
        return torch.tensor(found, dtype=torch.float32)

    @classmethod
    def shown(cls, mean: float, spread: float | None = None) -> str:
        """Return a value, or the mean and spread of several, as a reader sees it."""
        factor, digits, unit = (100, 2, " %") if cls.percent else (1, 4, "")
        if math.isnan(mean):
            return "no node to measure it on"
        behind = "" if spread is None else f" ± {factor * spread:.{digits}f}"
        return f"{factor * mean:.{digits}f}{behind}{unit}"


class Accuracy(Metric):
    """The share of nodes whose most probable class is the true one."""

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "accuracy"
    is_accuracy: ClassVar[bool] = True

    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the share."""
        return float((probabilities.argmax(-1) == labels).mean())


class BalancedAccuracy(Metric):
    """The mean over the classes of the share of their nodes that is found."""

    name: ClassVar[str] = "balanced-accuracy"
    title: ClassVar[str] = "balanced accuracy"

    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the mean recall."""
        hits = probabilities.argmax(-1) == labels
        return float(np.mean([hits[labels == c].mean() for c in np.unique(labels)]))


class MacroF1(Metric):
    """The mean over the classes of F1."""

    name: ClassVar[str] = "macro-f1"
    title: ClassVar[str] = "macro F1"

    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the mean F1 of the classes that occur."""
        from sklearn.metrics import f1_score

        return float(f1_score(labels, probabilities.argmax(-1), average="macro"))


class RocAuc(Metric):
    """The area under the ROC curve; of several classes, the mean of one against the rest."""

    name: ClassVar[str] = "roc-auc"
    title: ClassVar[str] = "ROC AUC"

    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the area, over the classes that occur and do not stand alone."""
        from sklearn.metrics import roc_auc_score

        present = np.unique(labels)
        if present.size < 2:
            return float("nan")
        if probabilities.shape[1] == 2:
            return float(roc_auc_score(labels, probabilities[:, 1]))
        areas = [roc_auc_score(labels == c, probabilities[:, c]) for c in present]
        return float(np.mean(areas))


def shown_metrics(chosen: str) -> list[type[Metric]]:
    """Return the metrics to show: accuracy, then the chosen one where it is another."""
    found: type[Metric] = METRICS.get(chosen)
    return [Accuracy] if found.is_accuracy else [Accuracy, found]
