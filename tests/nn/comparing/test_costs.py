"""What a step costs, row by row."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from ppro.nn.comparing.costs import (
    DEAREST,
    Judgement,
    at_step,
    common_depth,
    comparing_loss,
    penalty,
    priced,
    priority_gain,
    row_mean,
)
from tests.nn.comparing.support import SIZES, Sizes, naive_mean
from tests.support import tensor64


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_a_judgement_is_the_cross_entropy_and_the_hit(sizes: Sizes) -> None:
    seen = sizes.draw()
    found = Judgement.of(seen.p, seen.labels)
    for k in range(sizes.steps + 1):
        for run in range(sizes.runs):
            for row in range(sizes.rows):
                p, label = seen.p[k, run, row].tolist(), int(seen.labels[run, row])
                cost = min(-math.log(p[label]), DEAREST)
                assert float(found.cost[k, run, row]) == pytest.approx(cost)
                assert float(found.wrong[k, run, row]) == (p.index(max(p)) != label)


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(0, 99))
def test_values_at_a_step(sizes: Sizes, seed: int) -> None:
    seen, rng = sizes.draw(), torch.Generator().manual_seed(seed)
    steps = torch.randint(sizes.steps + 1, seen.labels.shape, generator=rng)
    cost, p = at_step(seen.cost, steps), at_step(seen.p, steps)
    for run in range(sizes.runs):
        for row in range(sizes.rows):
            k = int(steps[run, row])
            assert cost[run, row] == seen.cost[k, run, row]
            assert torch.equal(p[run, row], seen.p[k, run, row])


def naive_common_depth(wrong: Tensor, valid: Tensor) -> int:
    """k* of one run. Shapes ``[L + 1, m]``, ``[m]``."""
    weights = valid.tolist()
    means = [naive_mean(step.tolist(), weights) for step in wrong]
    best = means.index(min(means))
    count = max(sum(w > 0 for w in weights), 1)
    level = []
    for step in wrong:
        apart = (step - wrong[best]).tolist()
        mean = naive_mean(apart, weights)
        variance = naive_mean([(v - mean) ** 2 for v in apart], weights)
        level.append(mean <= math.sqrt(variance / count) + 1e-9)
    return max(k for k, is_level in enumerate(level) if is_level)


@settings(deadline=None, max_examples=50)
@given(SIZES)
def test_the_common_depth_is_the_deepest_that_is_level(sizes: Sizes) -> None:
    seen = sizes.draw()
    wrong = (seen.cost > 0.6).double() * 0.8 + 0.1 * seen.cost
    found = common_depth(wrong, seen.valid)
    for run in range(sizes.runs):
        assert int(found[run]) == naive_common_depth(wrong[:, run], seen.valid[run])


def test_without_any_difference_the_common_depth_is_the_last() -> None:
    wrong = torch.full((5, 1, 7), 0.3, dtype=torch.float64)
    assert int(common_depth(wrong, torch.ones(1, 7, dtype=torch.float64))) == 4


@settings(deadline=None, max_examples=30)
@given(SIZES, st.floats(0, 10), st.data())
def test_leaving_the_common_depth_has_its_price(
    sizes: Sizes, kappa: float, data: st.DataObject
) -> None:
    seen = sizes.draw()
    drawn = data.draw(
        st.lists(st.integers(0, sizes.steps), min_size=sizes.runs, max_size=sizes.runs)
    )
    common, kappas = torch.tensor(drawn), torch.full((sizes.runs,), kappa, dtype=torch.float64)
    found = priced(seen.cost, common, seen.valid, kappas)
    for run, k in enumerate(drawn):
        weights = seen.valid[run].tolist()
        squares = [
            naive_mean((step - seen.cost[k, run]).square().tolist(), weights)
            for step in seen.cost[:, run]
        ]
        count = max(sum(w > 0 for w in weights), 1)
        price = kappa * math.sqrt(sum(squares) / sizes.steps) / math.sqrt(count)
        for j in range(sizes.steps + 1):
            expected = seen.cost[j, run] + (price if j != k else 0.0)
            torch.testing.assert_close(found[j, run], expected)


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(2, 5))
def test_the_price_falls_as_the_root_of_the_number_of_labels(sizes: Sizes, times: int) -> None:
    seen = sizes.draw()
    common = torch.zeros(sizes.runs, dtype=torch.int64)
    kappa = torch.full((sizes.runs,), 3.0, dtype=torch.float64)

    def price(cost: Tensor, valid: Tensor) -> Tensor:
        return (priced(cost, common, valid, kappa) - cost)[1, :, 0]

    few = price(seen.cost, seen.valid)
    many = price(seen.cost.repeat(1, 1, times), seen.valid.repeat(1, times))
    torch.testing.assert_close(many * math.sqrt(times), few)


def test_no_price_at_all_changes_nothing() -> None:
    seen = Sizes(4, 2, 5, 3, 1).draw()
    free = priced(seen.cost, torch.tensor([0, 3]), seen.valid, torch.zeros(2, dtype=torch.float64))
    assert torch.equal(free, seen.cost)


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_decisions_are_weighed_by_their_worth(sizes: Sizes) -> None:
    seen = sizes.draw()
    logits = tensor64(*seen.cost.shape, seed=sizes.seed)
    gains = tensor64(*seen.cost.shape, seed=sizes.seed + 1)
    found = comparing_loss(logits, gains, seen.valid)
    for run in range(sizes.runs):
        total, worth = 0.0, 0.0
        for k in range(sizes.steps + 1):
            for row in range(sizes.rows):
                gain, logit = float(gains[k, run, row]), float(logits[k, run, row])
                chance = 1 / (1 + math.exp(-logit))
                error = -math.log(chance if gain < 0 else 1 - chance)
                weight = abs(gain) * float(seen.valid[run, row])
                total, worth = total + weight * error, worth + weight
        assert float(found[run]) == pytest.approx(total / (worth + 1e-6))


def test_a_decision_that_is_worth_nothing_teaches_nothing() -> None:
    logits = tensor64(3, 1, 4, seed=1).requires_grad_()
    loss = comparing_loss(logits, torch.zeros(3, 1, 4), torch.ones(1, 4))
    (slope,) = torch.autograd.grad(loss.sum(), logits)
    assert float(loss.detach()) == 0
    assert not slope.any()


@settings(deadline=None, max_examples=30)
@given(SIZES, st.floats(0, 4))
def test_the_gain_of_priorities(sizes: Sizes, lambda1: float) -> None:
    seen = sizes.draw()
    weights, cost = 1 + 0.3 * tensor64(*seen.valid.shape, seed=4), seen.cost[0]
    each = torch.full((sizes.runs,), lambda1, dtype=torch.float64)
    found = priority_gain(weights, cost, each, seen.valid)
    for run in range(sizes.runs):
        valid = seen.valid[run].tolist()
        mean = naive_mean(cost[run].tolist(), valid)
        spread = math.sqrt(naive_mean([(c - mean) ** 2 for c in cost[run].tolist()], valid)) + 1e-3
        terms = [
            w * (c - mean) / spread - lambda1 * (w - 1) ** 2
            for w, c in zip(weights[run].tolist(), cost[run].tolist(), strict=True)
        ]
        assert float(found[run]) == pytest.approx(naive_mean(terms, valid))


@settings(deadline=None, max_examples=20)
@given(st.floats(0.5, 50), st.floats(0.05, 4), st.integers(0, 99))
def test_the_best_priorities_do_not_depend_on_the_scale_of_costs(
    scale: float, lambda1: float, seed: int
) -> None:
    cost, valid = 1 + tensor64(1, 30, seed=seed).abs(), torch.ones(1, 30, dtype=torch.float64)
    weights = torch.ones(1, 30, dtype=torch.float64, requires_grad=True)
    # The gain is quadratic in w, so one step of Newton's method finds its maximum.
    found = priority_gain(weights, scale * cost, torch.tensor([lambda1]).double(), valid)
    (slope,) = torch.autograd.grad(found.sum(), weights)
    best = weights.detach() + slope * 30 / (2 * lambda1)
    standardised = (cost - cost.mean()) / cost.std(correction=0)
    torch.testing.assert_close(best, 1 + standardised / (2 * lambda1), atol=0.02, rtol=0.02)
    assert float(best.std()) > 0


def test_few_labels_hold_priorities_closer() -> None:
    valid = torch.ones(2, 400)
    valid[0, 100:] = 0
    assert penalty(torch.tensor([0.5, 0.5]), valid).tolist() == [3.0, 1.125]


@settings(deadline=None, max_examples=20)
@given(SIZES)
def test_a_batch_of_runs_is_the_runs_one_by_one(sizes: Sizes) -> None:
    seen = sizes.draw()
    kappa = torch.arange(1, sizes.runs + 1, dtype=torch.float64)
    common = common_depth(seen.cost, seen.valid)
    cost = priced(seen.cost, common, seen.valid, kappa)
    gains = tensor64(*cost.shape, seed=3)
    loss = comparing_loss(cost, gains, seen.valid)
    gain = priority_gain(seen.cost[0], seen.cost[-1], kappa, seen.valid)
    for run in range(sizes.runs):
        one = slice(run, run + 1)
        valid = seen.valid[one]
        assert torch.equal(common_depth(seen.cost[:, one], valid), common[one])
        alone = priced(seen.cost[:, one], common[one], valid, kappa[one])
        torch.testing.assert_close(alone, cost[:, one])
        torch.testing.assert_close(comparing_loss(alone, gains[:, one], valid), loss[one])
        pair = seen.cost[0, one], seen.cost[-1, one]
        torch.testing.assert_close(priority_gain(*pair, kappa[one], valid), gain[one])


@given(st.integers(1, 6))
def test_rows_that_count_nothing_count_nothing(padding: int) -> None:
    values, valid = tensor64(2, 5, seed=1), torch.ones(2, 5, dtype=torch.float64)
    padded = F.pad(values, (0, padding), value=1e9), F.pad(valid, (0, padding))
    torch.testing.assert_close(row_mean(*padded), row_mean(values, valid))
    assert row_mean(values, 0 * valid).tolist() == [0, 0]
