"""Controllers that compare: how rows walk, what decisions are worth, priorities of mean 1."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.layers import generators
from ppro.errors import SettingsError
from ppro.nn.comparing.controllers import ComparingControllers
from ppro.nn.comparing.costs import comparing_loss
from ppro.nn.comparing.evidence import LIMIT, evidence
from ppro.nn.strategies import Path, Strategy
from ppro.nn.strategies.learn_to_break import LearnToBreak
from ppro.nn.strategies.learn_to_update import LearnToUpdate
from tests.nn.comparing.support import SIZES, Seen, Sizes
from tests.support import tensor64

UNITS = 3


def controllers_of(sizes: Sizes) -> ComparingControllers:
    """Controllers in float64 whose every number is drawn."""
    rngs = generators(range(sizes.runs))
    made = ComparingControllers(rngs, 2, sizes.classes, sizes.steps, UNITS).double()
    for index, parameter in enumerate(made.parameters()):
        parameter.data.copy_(tensor64(*parameter.shape, seed=index + sizes.seed))
    for parameter in (made.deviation, made.scale, made.mean_weight):
        parameter.data.abs_().add_(0.1)
    return made


def naive_units(made: ComparingControllers, run: int, x: list[float]) -> list[float]:
    weight, bias = made.weight[run].tolist(), made.bias[run, 0].tolist()
    return [
        max(0.0, bias[j] + sum(v * weight[i][j] for i, v in enumerate(x))) for j in range(UNITS)
    ]


def naive_logit(made: ComparingControllers, run: int, k: int, x: list[float]) -> float:
    head: list[float] = made.head[run, :, 0].tolist()
    bias: list[float] = made.step_bias[run].tolist()
    return sum(u * v for u, v in zip(naive_units(made, run, x), head, strict=True)) + bias[k]


def naive_break(
    made: ComparingControllers, x: Tensor, cost: list[float], run: int, row: int
) -> tuple[int, list[float], list[float]]:
    """Step, logits and gains of L2B: the cost of a step less that of going on by the same rule."""
    last = made.last
    logits = [naive_logit(made, run, k, x[k, run, row].tolist()) for k in range(last)]

    def end(k: int) -> int:
        return k if k == last or logits[k] > 0 else end(k + 1)

    return end(0), logits, [cost[k] - cost[end(k + 1)] for k in range(last)]


def naive_update(
    made: ComparingControllers, x: Tensor, cost: list[float], run: int, row: int
) -> tuple[int, list[float], list[float]]:
    """Step, logits and gains of L2U: the cost of a step less that of the best so far."""
    best, logits, gains, c = 0, [], [], made.classes
    for k in range(1, made.last + 1):
        own, other = x[k, run, row].tolist(), x[best, run, row].tolist()
        pairs = zip(own[-2 * c : -c], other[-2 * c : -c], strict=True)
        agreement = sum(a * b for a, b in pairs) / c
        logits.append(naive_logit(made, run, k, [*own, *other[:5], agreement, best / made.last]))
        gains.append(cost[k] - cost[best])
        best = k if logits[-1] > 0 else best
    return best, logits, gains


@pytest.mark.parametrize(
    ("strategy", "naive"), [(LearnToBreak, naive_break), (LearnToUpdate, naive_update)]
)
def test_rows_walk_as_the_rule_says(strategy: type[Strategy], naive: object) -> None:
    @settings(deadline=None, max_examples=40)
    @given(SIZES)
    def check(sizes: Sizes) -> None:
        seen, made = sizes.draw(), controllers_of(sizes)
        x = made.standardised(evidence(seen.p, seen.near, seen.z))
        path = made.follow(strategy, x, seen.cost)
        assert path.gains is not None
        for run in range(sizes.runs):
            for row in range(sizes.rows):
                cost = seen.cost[:, run, row].tolist()
                step, logits, gains = naive(made, x, cost, run, row)  # type: ignore[operator]
                assert int(path.steps[run, row]) == step
                assert path.logits[:, run, row].tolist() == pytest.approx(logits)
                assert path.gains[:, run, row].tolist() == pytest.approx(gains)

    check()


@pytest.mark.parametrize("strategy", [LearnToBreak, LearnToUpdate])
def test_costs_do_not_change_the_way(strategy: type[Strategy]) -> None:
    sizes = Sizes(4, 2, 5, 3, 7)
    seen, made = sizes.draw(), controllers_of(sizes)
    x = made.standardised(evidence(seen.p, seen.near, seen.z))
    known, unknown = made.follow(strategy, x, seen.cost), made.follow(strategy, x)
    assert torch.equal(known.steps, unknown.steps)
    assert unknown.gains is None


def learned(strategy: type[Strategy], seen: Seen, made: ComparingControllers) -> Path:
    """The way after a hundred steps down the slope of the loss."""
    x = made.standardised(evidence(seen.p, seen.near, seen.z)).detach()
    descent = torch.optim.Adam(made.parameters(), 0.05)
    for _ in range(150):
        path = made.follow(strategy, x, seen.cost)
        assert path.gains is not None
        loss = comparing_loss(path.logits, path.gains, seen.valid).sum()
        for parameter, slope in zip(
            made.parameters(),
            torch.autograd.grad(loss, list(made.parameters()), materialize_grads=True),
            strict=True,
        ):
            parameter.grad = slope
        descent.step()
    return made.follow(strategy, x, seen.cost)


@pytest.mark.parametrize("strategy", [LearnToBreak, LearnToUpdate])
def test_what_costs_less_is_learned(strategy: type[Strategy]) -> None:
    sizes = Sizes(3, 1, 6, 3, 3)
    seen = sizes.draw()
    wanted = torch.tensor([0, 1, 2, 3, 0, 3])
    steps = torch.arange(4).view(-1, 1)
    seen = Seen(
        *(seen.p, seen.near, seen.z, torch.ones_like(seen.valid), seen.labels),
        (steps != wanted).double().unsqueeze(1),
    )
    rngs = generators([0])
    made = ComparingControllers(rngs, 2, 3, 3, 16).double()
    assert learned(strategy, seen, made).steps[0].tolist() == wanted.tolist()


def test_a_strategy_without_a_comparing_form_says_so() -> None:
    class Stays(Strategy):
        def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None: ...

    # Named only now: a class with a name registers itself, for all tests that follow.
    Stays.name = "stays"
    made, x = controllers_of(sizes := Sizes(2, 1, 2, 2, 0)), sizes.draw()
    with pytest.raises(SettingsError, match="has no comparing form; set teaching=paper"):
        made.follow(Stays, evidence(x.p, x.near, x.z))


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_priorities_have_mean_one(sizes: Sizes) -> None:
    seen, made = sizes.draw(), controllers_of(sizes)
    x = made.standardised(evidence(seen.p, seen.near, seen.z))[1]
    raw = made.raw_weight(x)
    head, bias = made.weight_head[:, :, 0].tolist(), made.weight_bias[:, 0].tolist()
    for run in range(sizes.runs):
        for row in range(sizes.rows):
            units = naive_units(made, run, x[run, row].tolist())
            score = sum(u * v for u, v in zip(units, head[run], strict=True)) + bias[run]
            expected = math.log1p(math.exp(score + math.log(math.e - 1)))
            assert float(raw[run, row].detach()) == pytest.approx(expected)
    found = made.weights(x, seen.valid)
    valid = seen.valid.sum(-1)
    mean = (found * seen.valid).sum(-1) / valid.clamp(min=1e-9)
    torch.testing.assert_close(mean[valid > 0], torch.ones_like(mean)[valid > 0])
    torch.testing.assert_close(made.weights(x), raw / made.mean_weight)


def test_all_priorities_begin_at_one() -> None:
    sizes = Sizes(2, 2, 4, 3, 1)
    made = ComparingControllers(generators([0, 1]), 2, 3, 2, UNITS).double()
    seen = sizes.draw()
    x = evidence(seen.p, seen.near, seen.z)[0]
    torch.testing.assert_close(made.weights(x), torch.ones_like(seen.valid))


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_evidence_is_standardised_over_rows_and_steps(sizes: Sizes) -> None:
    seen, made = sizes.draw(), controllers_of(sizes)
    x = evidence(seen.p, seen.near, seen.z)
    made.learn_statistics(x, seen.valid)
    found = made.standardised(x)
    for run in range(sizes.runs):
        rows = [i for i in range(sizes.rows) if seen.valid[run, i] > 0]
        for column in range(x.shape[-1]):
            values = [float(step[run, i, column]) for step in x for i in rows]
            mean = sum(values) / max(len(values), 1)
            spread = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values), 1)) + 1e-3
            for k in range(sizes.steps + 1):
                for i in rows:
                    value = (float(x[k, run, i, column]) - mean) / spread
                    value = max(-LIMIT, min(LIMIT, value))
                    assert float(found[k, run, i, column]) == pytest.approx(value, abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(SIZES, st.sampled_from([LearnToBreak, LearnToUpdate]))
def test_a_batch_of_runs_is_the_runs_one_by_one(sizes: Sizes, strategy: type[Strategy]) -> None:
    seen, made = sizes.draw(), controllers_of(sizes)
    x = made.standardised(evidence(seen.p, seen.near, seen.z))
    both = made.follow(strategy, x, seen.cost)
    weights = made.weights(x[0], seen.valid)
    for run in range(sizes.runs):
        one = slice(run, run + 1)
        alone = ComparingControllers(generators([0]), 2, sizes.classes, sizes.steps, UNITS)
        alone = alone.double()
        for p, q in zip(alone.parameters(), made.parameters(), strict=True):
            p.data = q.data[one]
        path = alone.follow(strategy, x[:, one], seen.cost[:, one])
        assert torch.equal(path.steps, both.steps[one])
        torch.testing.assert_close(path.logits, both.logits[:, one])
        torch.testing.assert_close(alone.weights(x[0, one], seen.valid[one]), weights[one])
