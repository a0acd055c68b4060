"""What the predictions of a training are worth: every metric, class by class, against guessing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.settings.settings import Settings
from ppro.training.calibration import Calibration
from ppro.training.metrics import CountMetric, confusion, positive_class, told_metrics
from ppro.training.metrics.counts import f1, hits

MOST_CLASSES = 50
"""Classes up to which the confusion matrix is kept."""
ENOUGH = 1_000_000
"""Nodes that a metric beyond counting is measured on: of more, evenly spaced ones."""


@dataclass(frozen=True)
class ClassRow:
    """How well one class is found; ``nodes`` is its number of nodes, those of all runs together."""

    name: str
    precision: float
    recall: float
    f1: float
    nodes: int


@dataclass(frozen=True)
class Majority:
    """Accuracy against the share of the most common class.

    Args:
        name: the class.
        share: of the nodes, the mean over runs.
        gain: accuracy less that share, the mean over runs.
        standard_error: of the gain, over the nodes or over the runs, the larger of the two.
    """

    name: str
    share: float
    gain: float
    standard_error: float

    @property
    def is_beaten(self) -> bool:
        """Tell whether the accuracy is above the share by more than a standard error."""
        return self.gain > self.standard_error


@dataclass(frozen=True)
class Assessment:
    """What the runs of a training are worth.

    Args:
        part: the nodes that classes are told of: test, or val where there is no test node.
        scores: of each part, each metric and each run, as the metrics have them.
        classes: those of all runs together.
        counts: nodes by label and predicted class; None of many classes.
        majority: None where there is no node to measure on.
        calibrations: of each run; None where it has no validation nodes.
        positive: which of two classes is to be found, else None.
    """

    part: str
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    classes: Sequence[ClassRow]
    counts: Sequence[Sequence[int]] | None
    majority: Majority | None
    calibrations: Sequence[Calibration | None]
    positive: int | None

    @classmethod
    def of(cls, chances: Tensor, graph: Graph, splits: Splits, settings: Settings) -> Self:
        """Measure the predictions of every run.

        Args:
            chances: Shape ``[R, n, c]``.
        """
        labels, metric = graph.labels, settings.training.metric
        masks = {"val": splits.val & (labels != UNLABELLED), "test": splits.test}
        masks["test"] = masks["test"] & (labels != UNLABELLED)
        scores: dict[str, dict[str, list[float]]] = {}
        for part, mask in masks.items():
            rows = [scores_of(p[m], labels[m], metric) for p, m in zip(chances, mask, strict=True)]
            scores[part] = {name: [row[name] for row in rows] for name in rows[0]}
        part = "test" if bool(masks["test"].any()) else "val"
        told = [
            counts_of(p[m].argmax(-1), labels[m], graph.num_classes)
            for p, m in zip(chances, masks[part], strict=True)
        ]
        positive = _positive(labels) if graph.num_classes == 2 else None
        fitted = [
            Calibration.of(p[m], labels[m], positive)
            for p, m in zip(chances, masks["val"], strict=True)
        ]
        pooled = torch.stack(told).sum(0)
        kept = pooled.long().tolist() if graph.num_classes <= MOST_CLASSES else None
        rows_of = class_rows(pooled, graph.class_names)
        guess = majority(told, graph.class_names)
        return cls(part, scores, rows_of, kept, guess, fitted, positive)

    def facts(self) -> dict[str, Any]:
        """Return it as ``result.json`` holds it."""
        metrics = {
            part: {name: _spread(values) for name, values in found.items()}
            for part, found in self.scores.items()
        }
        known = self.majority
        return {
            "metrics": metrics,
            "told_of": self.part,
            "classes": [asdict(row) for row in self.classes],
            "confusion": self.counts,
            "majority": None if known is None else {**asdict(known), "beaten": known.is_beaten},
            "positive": self.positive,
        }

    def of_run(self, run: int) -> dict[str, Any]:
        """Return what ``result.json`` holds of one run."""
        fitted = self.calibrations[run]
        scores = {
            part: {name: values[run] for name, values in found.items()}
            for part, found in self.scores.items()
        }
        return {
            "metrics": scores,
            "temperature": None if fitted is None else fitted.temperature,
            "threshold": None if fitted is None else fitted.threshold,
        }


def scores_of(
    chances: Tensor, labels: Tensor, chosen: str, predicted: Tensor | None = None
) -> dict[str, float]:
    """Return every metric of some nodes by its name; NaN where it is not defined.

    Args:
        chances: Shape ``[m, c]``.
        labels: Shape ``[m]``.
        chosen: the metric that is told beside those of the package.
        predicted: the classes; the most probable ones when None. Shape ``[m]``.
    """
    if not len(labels):
        return {metric.name: math.nan for metric in told_metrics(chosen)}
    predicted = chances.argmax(-1) if predicted is None else predicted
    counts = counts_of(predicted, labels, chances.shape[-1])[None]
    some = slice(None, None, max(1, -(-len(labels) // ENOUGH)))
    pair = chances[some].double().cpu().numpy(), labels[some].cpu().numpy()
    return {
        metric.name: float(metric().of_counts(counts))
        if issubclass(metric, CountMetric)
        else metric().number(*pair)
        for metric in told_metrics(chosen)
    }


def counts_of(predicted: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Count nodes by label (rows) and predicted class (columns). Shape ``[c, c]``."""
    return confusion(predicted[None], labels[None], torch.ones_like(labels)[None], classes)[0]


def class_rows(counts: Tensor, names: Sequence[str]) -> list[ClassRow]:
    """Return precision, recall and F1 of every class. Shape of counts ``[c, c]``."""
    right, nodes, found = hits(counts), counts.sum(-1), counts.sum(-2)
    columns = right / found.clamp(min=1), right / nodes.clamp(min=1), f1(counts)
    rows = zip(*(column.tolist() for column in columns), nodes.long().tolist(), strict=True)
    return [ClassRow(name, *row) for name, row in zip(names, rows, strict=True)]


def majority(counts: Sequence[Tensor], names: Sequence[str]) -> Majority | None:
    """Compare the accuracy of every run with the share of its most common class.

    Args:
        counts: of each run. Shape ``[c, c]``.
    """
    known = [one for one in counts if float(one.sum())]
    if not known:
        return None
    shares = [float(one.sum(-1).max() / one.sum()) for one in known]
    gains = [float(hits(one).sum() / one.sum()) - s for one, s in zip(known, shares, strict=True)]
    share, nodes = statistics.fmean(shares), statistics.fmean(float(one.sum()) for one in known)
    error = math.sqrt(share * (1 - share) / nodes)
    if len(gains) > 1:
        error = max(error, statistics.stdev(gains) / math.sqrt(len(gains)))
    common = int(torch.stack(known).sum((0, 2)).argmax())
    return Majority(names[common], share, statistics.fmean(gains), error)


def _positive(labels: Tensor) -> int:
    known = labels[labels != UNLABELLED][None]
    return int(positive_class(known, torch.ones_like(known)))


def _spread(values: Sequence[float]) -> dict[str, float]:
    known = [value for value in values if not math.isnan(value)]
    spread = statistics.stdev(known) if len(known) > 1 else 0.0
    return {"mean": statistics.fmean(known) if known else math.nan, "std": spread}
