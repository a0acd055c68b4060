"""What a metric is: a number for predictions, and whether more of it is better."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.errors import SettingsError
from ppro.parts import METRICS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Metric(ABC):
    """A number for predictions. A subclass with a ``name`` is known by it.

    Attributes:
        name: what settings and files call it.
        title: what tables and reports call it.
        is_accuracy: whether it is the accuracy, which training counts anyway.
        percent: whether it is shown in percent.
        lower_is_better: whether less of it is better, as of a loss.
        worst: what a run counts as whose predictions are no numbers.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    is_accuracy: ClassVar[bool] = False
    percent: ClassVar[bool] = True
    lower_is_better: ClassVar[bool] = False
    worst: ClassVar[float] = 0.0

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

    def number(self, probabilities: Floats, labels: Ints) -> float:
        """Return what :meth:`measure` says, which of a metric of a user's own may be anything.

        Raises:
            SettingsError: it is no number.
        """
        value = self.measure(probabilities, labels)
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError):
            raise SettingsError(
                f"metric '{self.name}': measure gives {type(value).__name__}; give one number, NaN "
                "where it is not defined"
            ) from None

    def of_runs(self, probabilities: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the metric of every run over the nodes that count in it. Shape ``[R]``.

        Args:
            probabilities: Shape ``[R, m, c]``.
            labels: those of nodes that do not count may be any number. Shape ``[R, m]``.
            counted: above 0 for nodes that count. Shape ``[R, m]``.
        """
        found = []
        for chances, classes, inside in zip(probabilities, labels, counted > 0, strict=True):
            told = chances[inside].detach().to("cpu", torch.float64).numpy()
            found.append(self.number(told, classes[inside].cpu().numpy()) if len(told) else np.nan)
        return torch.tensor(found, dtype=torch.float32)

    @classmethod
    def worth(cls, value: float) -> float:
        """Return a value so that more is better; where it is NaN, the worst."""
        known = cls.worst if math.isnan(value) else value
        return -known if cls.lower_is_better else known

    @classmethod
    def of_worth(cls, worth: float) -> float:
        """Return the value that has this worth."""
        return -worth if cls.lower_is_better else worth

    @classmethod
    def shown(cls, mean: float, spread: float | None = None, digits: int | None = None) -> str:
        """Return a value, or the mean and spread of several, as a reader sees it.

        Args:
            digits: behind the point; two of percents and four of others when None.
        """
        factor, usual, unit = (100, 2, " %") if cls.percent else (1, 4, "")
        if math.isnan(mean):
            return "no node to measure it on"
        digits = usual if digits is None else digits
        behind = "" if spread is None else f" ± {factor * spread:.{digits}f}"
        return f"{factor * mean:.{digits}f}{behind}{unit}"


class BatchMetric(Metric):
    """A metric that measures all runs at once where their predictions are, without the host."""

    @abstractmethod
    def values(self, chances: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the metric of every run, NaN where it is not defined. Shape ``[R]``.

        Args:
            chances: in double precision. Shape ``[R, m, c]``.
            labels: Shape ``[R, m]``.
            counted: 1 for nodes that count, else 0; in double precision. Shape ``[R, m]``.
        """

    def measure(self, probabilities: Floats, labels: Ints) -> float:
        """Return the metric of some nodes; see :meth:`Metric.measure`."""
        chances = torch.from_numpy(np.asarray(probabilities, np.float64))[None]
        classes = torch.from_numpy(np.asarray(labels, np.int64))[None]
        return float(self.values(chances, classes, torch.ones_like(classes, dtype=torch.float64)))

    @torch.no_grad()
    def of_runs(self, probabilities: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
        """Return the metric of every run; see :meth:`Metric.of_runs`."""
        inside = (counted > 0).to(torch.float64)
        found = self.values(probabilities.to(torch.float64), labels.clamp(min=0).long(), inside)
        return found.to(torch.float32)
