"""Evidence, number by number."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.nn.comparing.evidence import (
    OF_NODE,
    OF_STEP,
    PLAIN,
    SMALLEST,
    centred_scores,
    equal_scale,
    evidence,
    log_predictions,
    of_best,
    width,
)
from tests.nn.comparing.support import SIZES, Seen, Sizes
from tests.support import tensor64


def naive(seen: Seen, k: int, run: int, row: int) -> list[float]:
    """What the controllers see of one row at step k."""
    steps = [seen.p[j, run, row].tolist() for j in range(k + 1)]
    near = [seen.near[j, run, row].tolist() for j in range(k + 1)]
    classes = range(len(steps[0]))

    def dot(a: list[float], b: list[float]) -> float:
        return sum(a[c] * b[c] for c in classes)

    def told(j: int) -> list[float]:
        best, second = sorted(steps[j], reverse=True)[:2]
        entropy = -sum(v * math.log(v) for v in steps[j]) / math.log(len(classes))
        return [best, best - second, entropy, dot(steps[j], near[j]), max(near[j])]

    change = sum(abs(steps[k][c] - steps[k - 1][c]) for c in classes) / 2 if k else 0.0
    mean = [sum(step[c] for step in steps) / (k + 1) for c in classes]
    start = told(0)
    found = [*told(k), change, dot(steps[k], mean), dot(steps[k], steps[0])]
    found += [start[0], start[2], start[3], start[4], k / seen.last]
    return [*found, *seen.z[run, row].tolist(), *steps[k], *steps[0]]


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_evidence_number_by_number(sizes: Sizes) -> None:
    seen = sizes.draw()
    found = evidence(seen.p, seen.near, seen.z)
    assert found.shape[-1] == width(2, sizes.classes)
    assert len(OF_STEP) + len(OF_NODE) == PLAIN
    for k in range(sizes.steps + 1):
        for run in range(sizes.runs):
            for row in range(sizes.rows):
                expected = torch.tensor(naive(seen, k, run, row), dtype=torch.float64)
                torch.testing.assert_close(found[k, run, row], expected)


@settings(deadline=None, max_examples=30)
@given(SIZES, st.data())
def test_a_step_tells_nothing_of_later_ones(sizes: Sizes, data: st.DataObject) -> None:
    seen = sizes.draw()
    k = data.draw(st.integers(0, sizes.steps - 1))
    p, near = seen.p.clone(), seen.near.clone()
    for later in (p, near):
        later[k + 1 :] = tensor64(*later[k + 1 :].shape, seed=5).softmax(-1)
    before, after = evidence(seen.p, seen.near, seen.z), evidence(p, near, seen.z)
    assert torch.equal(before[: k + 1], after[: k + 1])


def test_evidence_of_certain_predictions_is_finite() -> None:
    p = torch.eye(3, dtype=torch.float64).view(3, 1, 1, 3)
    found = evidence(p, torch.zeros_like(p), torch.zeros(1, 1, 1, dtype=torch.float64))
    assert bool(found.isfinite().all())
    assert found[:, 0, 0, 2].tolist() == [0, 0, 0]


@settings(deadline=None, max_examples=20)
@given(SIZES)
def test_l2u_sees_the_best_step_beside(sizes: Sizes) -> None:
    seen = sizes.draw()
    x = evidence(seen.p, seen.near, seen.z)
    share = torch.full(x.shape[1:3], 0.25, dtype=torch.float64)
    found = of_best(x[1], x[0], share, sizes.classes)
    for run in range(sizes.runs):
        for row in range(sizes.rows):
            one, best = x[1, run, row].tolist(), x[0, run, row].tolist()
            at = slice(-2 * sizes.classes, -sizes.classes)
            agreement = sum(a * b for a, b in zip(one[at], best[at], strict=True)) / sizes.classes
            expected = torch.tensor([*best[:5], agreement, 0.25], dtype=torch.float64)
            torch.testing.assert_close(found[run, row], expected)


@given(st.integers(0, 99))
def test_scores_are_centred_logarithms(seed: int) -> None:
    logits = 40 * tensor64(2, 3, 4, seed=seed)
    found = centred_scores(log_predictions(logits))
    for i in range(2):
        for j in range(3):
            row = logits[i, j].tolist()
            total = max(row) + math.log(sum(math.exp(v - max(row)) for v in row))
            scores = [max(v - total, math.log(SMALLEST)) for v in row]
            mean = sum(scores) / 4
            expected = torch.tensor([v - mean for v in scores], dtype=torch.float64)
            torch.testing.assert_close(found[i, j], expected)


@settings(deadline=None, max_examples=30)
@given(SIZES)
def test_all_steps_get_one_spread(sizes: Sizes) -> None:
    seen = sizes.draw()
    scores = 3 * tensor64(*seen.p.shape, seed=sizes.seed)
    found = equal_scale(scores, seen.valid)
    for run in range(sizes.runs):
        rows = [i for i in range(sizes.rows) if seen.valid[run, i] > 0]
        spreads = []
        for k in range(sizes.steps + 1):
            squares = [v * v for i in rows for v in scores[k, run, i].tolist()]
            spreads.append(math.sqrt(sum(squares) / max(len(squares), 1)) + 1e-3)
        mean = sum(spreads) / len(spreads)
        expected = torch.tensor([mean / spread for spread in spreads], dtype=torch.float64)
        torch.testing.assert_close(found[:, run], expected)
