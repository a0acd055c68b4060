from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.nn import losses
from tests.support import tensor64

RUNS, NODES, STEPS = 3, 7, 4
SIZES = (7, 4, 1)
valid = torch.tensor([[1.0] * m + [0.0] * (NODES - m) for m in SIZES], dtype=torch.float64)
error = tensor64(RUNS, NODES, seed=1).abs()
probability = tensor64(RUNS, NODES, seed=2).sigmoid()
weight = tensor64(RUNS, NODES, seed=3).exp()
lambda1 = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)


def close(found: Tensor, expected: list[float]) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


def test_the_prediction_error_is_the_cross_entropy_of_each_node() -> None:
    logits = tensor64(2, 3, 4, seed=4)
    labels = torch.tensor([[0, 3, 1], [2, 2, 0]])
    found = losses.prediction_error(logits, labels)
    for r in range(2):
        for i in range(3):
            scores = [math.exp(float(v)) for v in logits[r, i]]
            expected = -math.log(scores[int(labels[r, i])] / sum(scores))
            assert float(found[r, i]) == pytest.approx(expected, abs=1e-12)


def test_break_loss_is_equation_9_over_the_valid_nodes() -> None:
    expected = []
    for r, m in enumerate(SIZES):
        c = [float(v) for v in error[r, :m]]
        span = (max(c) - min(c)) or 1.0
        terms = [abs((c[i] - min(c)) / span - (1 - float(probability[r, i]))) for i in range(m)]
        expected.append(sum(terms) / m)
    close(losses.break_loss(error, probability, valid), expected)


def test_update_loss_is_equation_10_over_the_valid_nodes() -> None:
    p = tensor64(STEPS, RUNS, NODES, seed=5).sigmoid()
    c, best = tensor64(STEPS, RUNS, NODES, seed=6), tensor64(STEPS, RUNS, NODES, seed=7)
    expected = []
    for r, m in enumerate(SIZES):
        total = 0.0
        for i in range(m):
            for k in range(STEPS):
                total += float(p[k, r, i]) * (float(c[k, r, i]) - float(best[k, r, i])) / STEPS
        expected.append(total / m)
    close(losses.update_loss(p, c, best, valid), expected)


def test_supervised_loss_is_equation_12() -> None:
    expected = [sum(float(v) for v in error[r, :m]) / m for r, m in enumerate(SIZES)]
    close(losses.supervised_loss(error, valid), expected)


def test_weighted_loss_is_equation_13() -> None:
    expected = []
    for r, m in enumerate(SIZES):
        w, c = [float(v) for v in weight[r]], [float(v) for v in error[r]]
        first = sum(w[i] * c[i] for i in range(m)) / m
        expected.append(first - float(lambda1[r]) * sum(w[i] ** 2 for i in range(m)) / m)
    close(losses.weighted_loss(error, weight, lambda1, valid), expected)


def loop_standardised(values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / deviation if deviation else 0.0 for v in values]


def test_labels_fade_as_their_error_falls() -> None:
    mean = [0.4, 1.5, 0.7]
    delta = [0.8, 1.0, 0.0]
    expected = []
    for c, d in zip(mean, delta, strict=True):
        expected.append(c * c / d if d > 0 and c < d else c)
    known = torch.tensor(mean, dtype=torch.float64)
    close(losses.faded(known, known, torch.tensor(delta, dtype=torch.float64)), expected)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.01, 5), st.floats(0.1, 3))
def test_faded_labels_have_the_gradient_of_huber_s_loss(value: float, delta: float) -> None:
    mean = torch.tensor([value], dtype=torch.float64, requires_grad=True)
    threshold = torch.tensor([delta], dtype=torch.float64)
    faded = losses.faded(mean, mean.detach(), threshold)
    (found,) = torch.autograd.grad(faded.sum(), mean)
    huber = torch.nn.functional.huber_loss(mean, torch.zeros_like(mean), delta=delta) / delta
    (expected,) = torch.autograd.grad(huber, mean)
    torch.testing.assert_close(found, expected)


def test_priority_gain_is_equation_13_with_standardised_errors() -> None:
    expected = []
    for r, m in enumerate(SIZES):
        w, c = [float(v) for v in weight[r]], loop_standardised([float(v) for v in error[r, :m]])
        terms = [w[i] * c[i] - float(lambda1[r]) * (w[i] - 1) ** 2 for i in range(m)]
        expected.append(sum(terms) / m)
    close(losses.priority_gain(weight, error, lambda1, valid), expected)


def test_the_best_priorities_have_mean_1_and_differ() -> None:
    apart = losses.standardised_error(error, valid)
    best = (1 + apart / (2 * 0.7)).requires_grad_()
    held = torch.full((RUNS,), 0.7, dtype=torch.float64)
    gain = losses.priority_gain(best, error, held, valid)
    (slope,) = torch.autograd.grad(gain.sum(), [best])
    assert float(slope.abs().max()) < 1e-12
    torch.testing.assert_close(losses.node_mean(best, valid), torch.ones_like(held))
    assert bool((best.detach()[:2].std(1) > 0.1).all())


@settings(deadline=None, max_examples=50)
@given(st.floats(1e-3, 1e3), st.integers(0, 10**6))
def test_priority_gain_does_not_see_the_scale_of_the_errors(factor: float, seed: int) -> None:
    costs = tensor64(RUNS, NODES, seed=seed).exp()
    one, other = (losses.priority_gain(weight, c, lambda1, valid) for c in (costs, factor * costs))
    torch.testing.assert_close(one, other, atol=1e-9, rtol=1e-9)
    plain = losses.weighted_loss(factor * costs, weight, lambda1, valid)
    if abs(factor - 1) > 0.1:
        assert not torch.allclose(plain, losses.weighted_loss(costs, weight, lambda1, valid))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_errors_ask_for_equal_priorities(dtype: torch.dtype) -> None:
    equal = torch.full((RUNS, NODES), 1 / 3, dtype=dtype)
    assert bool((losses.standardised_error(equal, valid.to(dtype)) == 0).all())


def test_weights_of_classes_count_in_the_mean_and_the_spread() -> None:
    """A class of twice the weight counts as if each of its nodes stood there twice."""
    twice = torch.tensor([[2.0, 1.0, 1.0]], dtype=torch.float64)
    costs = torch.tensor([[0.3, 1.0, 2.0]], dtype=torch.float64)
    repeated = losses.standardised_error(costs[:, [0, 0, 1, 2]], torch.ones(1, 4).double())
    found = losses.standardised_error(costs, twice)
    torch.testing.assert_close(found, repeated[:, 1:])


def test_controller_loss_is_equation_14() -> None:
    p, w, lambda2 = tensor64(3, seed=8), tensor64(3, seed=9), tensor64(3, seed=10)
    expected = [float(p[r]) - float(lambda2[r]) * float(w[r]) for r in range(3)]
    close(losses.controller_loss(p, w, lambda2), expected)


def test_equal_errors_normalise_to_zero() -> None:
    equal = torch.full((1, 4), 0.7, dtype=torch.float64)
    ones = torch.ones_like(equal)
    assert losses.min_max(equal, ones).tolist() == [[0.0] * 4]
    p = torch.tensor([[0.1, 0.4, 0.9, 1.0]], dtype=torch.float64)
    close(losses.break_loss(equal, p, ones), [(0.9 + 0.6 + 0.1 + 0.0) / 4])


def test_a_single_valid_node_has_a_finite_break_loss() -> None:
    found = losses.break_loss(error, probability, valid)
    assert bool(torch.isfinite(found).all())


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.floats(-1e6, 1e6))
def test_what_stands_in_the_padding_changes_no_loss_and_no_gradient(
    seed: int, filler: float
) -> None:
    c, p, w = (tensor64(RUNS, NODES, seed=seed + i).abs() for i in range(3))

    def results(fill: float) -> list[Tensor]:
        args = [torch.where(valid > 0, t, fill).requires_grad_() for t in (c, p, w)]
        total = (
            losses.break_loss(args[0], args[1], valid)
            + losses.weighted_loss(args[0], args[2], lambda1, valid)
            + losses.update_loss(args[1][None], args[0][None], args[2][None], valid)
        )
        gradients = torch.autograd.grad(total.sum(), args)
        return [total.detach(), *(g * valid for g in gradients)]

    for a, b in zip(results(0.0), results(filler), strict=True):
        torch.testing.assert_close(a, b)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0, 100), min_size=2, max_size=8), st.floats(0.1, 10), st.floats(0, 10))
def test_min_max_lies_in_0_1_and_ignores_scale_and_shift(
    values: list[float], factor: float, shift: float
) -> None:
    c = torch.tensor([values], dtype=torch.float64)
    ones = torch.ones_like(c)
    found = losses.min_max(c, ones)
    assert float(found.min()) == 0.0
    assert float(found.max()) in (0.0, 1.0)
    if float(c.max() - c.min()) > 1e-3:
        scaled = losses.min_max(c * factor + shift, ones)
        torch.testing.assert_close(found, scaled, atol=1e-8, rtol=1e-8)


def test_small_differences_are_normalised_too() -> None:
    c = torch.tensor([[0.2, 0.3, 0.6]], dtype=torch.float64)
    close(losses.min_max(c, torch.ones_like(c))[0], [0.0, 0.25, 1.0])


def test_padding_normalises_to_zero() -> None:
    found = losses.min_max(error, valid)
    assert bool((found[valid == 0] == 0).all())
    assert float(found[0].max()) == 1


def test_several_forwards_at_once_have_the_losses_of_each() -> None:
    errors, weights = (torch.stack([t, t.square()]) for t in (error, weight))
    found = losses.weighted_loss(errors, weights, lambda1, valid)
    assert found.shape == (2, RUNS)
    for part, one in enumerate(found):
        expected = losses.weighted_loss(errors[part], weights[part], lambda1, valid)
        torch.testing.assert_close(one, expected)
    by_forward = losses.min_max(errors, valid.expand_as(errors))
    torch.testing.assert_close(by_forward[1], losses.min_max(errors[1], valid))
