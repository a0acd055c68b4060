"""What a prediction is worth: metrics over the predictions of all nodes that count.

A metric sees gathered predictions, so one that does not add up over processes, such as the area
under a curve, is exact on any number of ranks.

``base``: what a metric is; ``counts``: those of labels and predicted classes; ``curves``: those of
the order in which probabilities put the nodes; ``chances``: those of the probabilities themselves.
"""

from ppro.parts import METRICS
from ppro.training.metrics.base import BatchMetric, Floats, Ints, Metric
from ppro.training.metrics.chances import CalibrationError, LogLoss
from ppro.training.metrics.counts import (
    Accuracy,
    BalancedAccuracy,
    CountMetric,
    MacroF1,
    WeightedF1,
    confusion,
)
from ppro.training.metrics.curves import AveragePrecision, RocAuc, positive_class

__all__ = [
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "BatchMetric",
    "CalibrationError",
    "CountMetric",
    "Floats",
    "Ints",
    "LogLoss",
    "MacroF1",
    "Metric",
    "RocAuc",
    "WeightedF1",
    "confusion",
    "positive_class",
    "shown_metrics",
    "told_metrics",
]

TOLD: tuple[type[Metric], ...] = (
    *(Accuracy, BalancedAccuracy, MacroF1, WeightedF1, RocAuc, AveragePrecision),
    *(LogLoss, CalibrationError),
)
"""What every result is measured by in the end."""


def shown_metrics(chosen: str) -> list[type[Metric]]:
    """Return the metrics to show: accuracy, then the chosen one where it is another."""
    found: type[Metric] = METRICS.get(chosen)
    return [Accuracy] if found.is_accuracy else [Accuracy, found]


def told_metrics(chosen: str) -> list[type[Metric]]:
    """Return the metrics that a result is measured by: those of the package and the chosen one."""
    found: type[Metric] = METRICS.get(chosen)
    return [*TOLD, *([] if found in TOLD else [found])]
