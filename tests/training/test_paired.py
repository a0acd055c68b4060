from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ppro.training.paired import compare, standard_error

accuracies = st.lists(st.floats(0, 100), min_size=2, max_size=12)


@settings(deadline=None, max_examples=30)
@given(accuracies, st.floats(-5, 5))
def test_a_constant_shift_has_no_spread(values: list[float], shift: float) -> None:
    found = compare([v + shift for v in values], values)
    assert found.difference == pytest.approx(shift, abs=1e-9)
    assert found.standard_error == pytest.approx(0, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(accuracies)
def test_a_method_ties_with_itself(values: list[float]) -> None:
    found = compare(values, values)
    assert (found.difference, found.t_test, found.wilcoxon) == (0, 1, 1)
    assert found.verdict == "tie"


def test_against_scipy() -> None:
    ours, theirs = [85.0, 84.2, 86.1, 85.5, 84.9], [84.1, 84.0, 85.0, 85.6, 83.9]
    found = compare(ours, theirs)
    assert found.t_test == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
    assert found.wilcoxon == pytest.approx(stats.wilcoxon(ours, theirs).pvalue)
    assert found.standard_error == pytest.approx(
        stats.sem([a - b for a, b in zip(ours, theirs, strict=True)])
    )
    assert found.verdict == "better"
    assert compare(theirs, ours).verdict == "worse"


def test_one_run_says_nothing() -> None:
    found = compare([80.0], [70.0])
    assert math.isnan(found.standard_error)
    assert found.verdict == "too few runs"
    assert math.isnan(standard_error([80.0]))
