"""Holm's correction against a naive definition, and the verdicts that rest on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppro.paper.statistics import LEVEL, compare, holm, judged

P = st.floats(0, 1)


def rejected(p_values: list[float], level: float) -> set[int]:
    """Holm's procedure as it is told: up from the least p, to the first that is too large."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    found: set[int] = set()
    for rank, i in enumerate(order):
        if p_values[i] * (len(p_values) - rank) >= level:
            break
        found.add(i)
    return found


@given(st.lists(P, max_size=12))
def test_corrected_values_reject_what_the_procedure_rejects(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert {i for i, p in enumerate(adjusted) if p < LEVEL} == rejected(p_values, LEVEL)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))


def test_an_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_one_comparison_is_not_corrected() -> None:
    found = compare([85.0, 85.4, 85.1], [84.0, 84.1, 84.4])
    (one,) = judged({"one": found}).values()
    assert one.adjusted == found.t_test
    assert one.verdict == "better"
    assert one.told == f"{found.difference:+.2f} ± {found.standard_error:.2f}, better"


def test_among_many_a_small_difference_is_a_tie() -> None:
    rng = np.random.default_rng(0)
    zero = [0.0] * 10
    noise = {i: compare(rng.normal(size=10).tolist(), zero) for i in range(40)}
    values = (np.array([1.0, -1.0] * 5) + 0.85).tolist()
    near = compare(values, zero)
    assert near.verdict == "better"
    assert near.t_test < LEVEL
    found = judged({**noise, "near": near})
    assert found["near"].verdict == "tie"
    assert judged({"near": near})["near"].verdict == "better"
    assert judged({"near": compare(zero, values)})["near"].verdict == "worse"


def test_single_runs_are_no_comparison_and_do_not_count() -> None:
    one, many = compare([1.0], [0.0]), compare([1.0, 1.2, 1.1], [0.0, 0.1, 0.3])
    found = judged({"one": one, "many": many})
    assert found["one"].verdict == "too few runs"
    assert math.isnan(found["one"].adjusted)
    assert found["many"].adjusted == many.t_test
