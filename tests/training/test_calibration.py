"""Temperature and threshold, against a search over all of them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from ppro.parts import METRICS
from ppro.training.calibration import (
    COLDEST,
    HOTTEST,
    Calibration,
    best_temperature,
    best_threshold,
    heated,
)


def _drawn(seed: int, nodes: int, classes: int, sureness: float) -> tuple[torch.Tensor, ...]:
    """Return probabilities that are too sure by a factor, and labels drawn from honest ones."""
    rng = torch.Generator().manual_seed(seed)
    logits = torch.randn(nodes, classes, generator=rng, dtype=torch.float64)
    labels = torch.multinomial(logits.softmax(-1), 1, generator=rng).squeeze(1)
    return (sureness * logits).softmax(-1), labels


@pytest.mark.parametrize("sureness", [0.5, 1.0, 3.0])
def test_the_temperature_undoes_what_makes_probabilities_too_sure(sureness: float) -> None:
    chances, labels = _drawn(0, 20_000, 3, sureness)
    assert best_temperature(chances, labels) == pytest.approx(sureness, rel=0.05)


def test_no_other_temperature_has_a_lower_loss() -> None:
    chances, labels = _drawn(1, 20_000, 4, 2.5)
    loss = METRICS.get("log-loss")()

    def at(temperature: float) -> float:
        return float(loss.measure(heated(chances, temperature).numpy(), labels.numpy()))

    best = at(best_temperature(chances, labels))
    grid = torch.linspace(COLDEST, HOTTEST, 400).tolist()
    assert best <= min(map(at, grid)) + 1e-4


@pytest.mark.parametrize("certain", [0.9, 0.99, 0.9999])
def test_nodes_that_are_all_right_do_not_make_probabilities_extreme(certain: float) -> None:
    chances = torch.tensor([[certain, 1 - certain]], dtype=torch.float64).repeat(200, 1)
    temperature = best_temperature(chances, torch.zeros(200, dtype=torch.long))
    assert float(heated(chances, temperature)[0, 0]) == pytest.approx(1 - 1 / 202, abs=1e-3)


def test_calibration_changes_no_prediction_and_stands_probabilities_of_zero() -> None:
    chances, labels = _drawn(2, 50, 3, 4.0)
    chances[0] = torch.tensor([0.0, 1.0, 0.0])
    found = Calibration.of(chances.float(), labels, None)
    assert found is not None
    told = found.calibrated(chances.float())
    assert torch.equal(told.argmax(-1), chances.argmax(-1))
    torch.testing.assert_close(told.sum(-1), torch.ones(50))
    assert bool(told.isfinite().all())


@settings(deadline=None)
@given(seed=st.integers(0, 5_000), nodes=st.integers(2, 30), digits=st.integers(1, 3))
def test_no_other_threshold_has_a_better_f1(seed: int, nodes: int, digits: int) -> None:
    rng = torch.Generator().manual_seed(seed)
    scores = torch.rand(nodes, generator=rng).round(decimals=digits)
    positive = torch.rand(nodes, generator=rng) < 0.4
    found = best_threshold(scores, positive)
    if bool(positive.all()) or not bool(positive.any()):
        assert found is None
        return
    assert found is not None

    def f1(threshold: float) -> float:
        return float(f1_score(positive, scores.double() >= threshold, zero_division=0))

    every = [0.0, *scores.double().tolist(), 2.0]
    assert f1(found) == pytest.approx(max(map(f1, every)))


def test_the_threshold_parts_the_same_nodes_where_probabilities_are_calibrated() -> None:
    chances, labels = _drawn(3, 200, 2, 3.0)
    found = Calibration.of(chances, labels, 0)
    assert found is not None
    assert found.threshold is not None
    plain = found.predicted(chances, found.threshold)
    limit = found.calibrated_threshold()
    assert limit is not None
    assert torch.equal(found.predicted(found.calibrated(chances), limit), plain)
    assert torch.equal(plain == 0, chances[:, 0] >= found.threshold)


def test_without_validation_nodes_nothing_is_fitted() -> None:
    assert Calibration.of(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long), 1) is None
