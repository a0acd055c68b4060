"""Every metric against scikit-learn, or against a loop where it has none; many runs at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from ppro.parts import METRICS
from ppro.training.metrics import BatchMetric, Metric, positive_class


def _one_against_rest(of_class: Callable[..., float]) -> Callable[..., float]:
    def measured(p: Any, y: Any) -> float:
        if len(np.unique(y)) < 2:
            return math.nan
        if p.shape[1] == 2:
            positive = 0 if 0 < (y == 0).mean() < 1 / 3 else 1
            return float(of_class(y == positive, p[:, positive]))
        return float(np.mean([of_class(y == c, p[:, c]) for c in np.unique(y)]))

    return measured


def _calibration_error(p: Any, y: Any) -> float:
    """The definition, bin by bin: (0, 1/15], (1/15, 2/15] …"""
    confidence, right, total = p.max(1), p.argmax(1) == y, 0.0
    for low in range(15):
        inside = (confidence > low / 15) & (confidence <= (low + 1) / 15)
        if inside.any():
            total += inside.sum() * abs(confidence[inside].mean() - right[inside].mean())
    return float(total / len(y))


KNOWN: dict[str, Callable[..., float]] = {
    "accuracy": lambda p, y: sk.accuracy_score(y, p.argmax(1)),
    "balanced-accuracy": lambda p, y: _recall(p, y),
    "macro-f1": lambda p, y: sk.f1_score(y, p.argmax(1), average="macro", zero_division=0),
    "weighted-f1": lambda p, y: sk.f1_score(y, p.argmax(1), average="weighted", zero_division=0),
    "roc-auc": _one_against_rest(sk.roc_auc_score),
    "average-precision": _one_against_rest(sk.average_precision_score),
    "log-loss": lambda p, y: sk.log_loss(y, p, labels=list(range(p.shape[1]))),
    "calibration-error": _calibration_error,
}


def _recall(p: Any, y: Any) -> float:
    """Balanced accuracy; scikit-learn's own warns of classes that are predicted only."""
    return float(
        sk.recall_score(y, p.argmax(1), labels=np.unique(y), average="macro", zero_division=0)
    )


def _drawn(seed: int, nodes: int, classes: int, digits: int) -> tuple[Any, Any]:
    """Return probabilities, with ties where they have few digits, and labels."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), nodes).round(digits) + 1e-3
    return p / p.sum(1, keepdims=True), rng.choice(classes, nodes, p=rng.dirichlet([2] * classes))


def test_every_metric_of_the_package_is_compared() -> None:
    own = {name for name in METRICS.names() if METRICS.get(name).__module__.startswith("ppro.")}
    assert own == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 60),
    classes=st.integers(2, 5),
    digits=st.integers(1, 6),
)
def test_measures_as_the_reference(
    name: str, seed: int, nodes: int, classes: int, digits: int
) -> None:
    p, y = _drawn(seed, nodes, classes, digits)
    found = METRICS.get(name)().measure(p, y)
    assert found == pytest.approx(KNOWN[name](p, y), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", KNOWN)
def test_runs_are_measured_at_once_over_the_nodes_that_count(name: str) -> None:
    metric: BatchMetric = METRICS.get(name)()
    drawn = [_drawn(seed, 40, 3, 2) for seed in range(4)]
    counted = torch.rand(4, 40, generator=torch.Generator().manual_seed(0)) < 0.7
    counted[3] = False
    chances = torch.from_numpy(np.stack([p for p, _ in drawn]))
    labels = torch.from_numpy(np.stack([y for _, y in drawn])).where(counted, torch.tensor(-1))
    found = metric.of_runs(chances, labels, counted)
    one_by_one = Metric.of_runs(metric, chances, labels, counted)
    torch.testing.assert_close(found, one_by_one, equal_nan=True)
    assert found[3].isnan()
    assert not found[:3].isnan().any()


def test_the_positive_class_is_the_second_unless_the_first_is_far_rarer() -> None:
    shares = torch.tensor([0.0, 0.05, 0.3, 0.4, 0.5, 0.9, 1.0])
    labels = (torch.arange(100) >= 100 * shares.unsqueeze(1)).long()
    assert positive_class(labels, torch.ones(7, 100)).tolist() == [1, 0, 0, 1, 1, 1, 1]


def test_predictions_without_a_node_of_a_class_are_not_defined() -> None:
    p = np.array([[0.2, 0.8], [0.6, 0.4]])
    for name in ("roc-auc", "average-precision"):
        assert math.isnan(METRICS.get(name)().measure(p, np.array([1, 1])))


@pytest.mark.parametrize("name", KNOWN)
def test_more_worth_is_better(name: str) -> None:
    """Predictions nearer to the truth are worth more, and none is worth less than no numbers."""
    metric = METRICS.get(name)
    y = np.arange(60) % 3
    right = np.eye(3)[y]
    good, poor = ((share * right + (1 - share) / 3) for share in (0.9, -0.4))
    worths = [metric.worth(metric().measure(p, y)) for p in (good, poor)]
    assert worths[0] > worths[1] >= metric.worth(math.nan)
    assert metric.of_worth(metric.worth(0.25)) == 0.25
