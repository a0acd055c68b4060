"""Of what validates nearly alike, the one whose nodes differ is taken."""

from __future__ import annotations

from typing import Any

import pytest

from ppro.data.names import PUBLIC, RANDOM
from ppro.paper.differing import SHARES, TOLERATED, corrected_error, finalists, pick


def one(off: float | None, *val: float) -> dict[str, Any]:
    return {"val": list(val), "val_mean": sum(val) / len(val), "off_common": off}


def test_nodes_that_differ_win_where_they_cost_little() -> None:
    best, near, far = one(0.0, 80.0, 80.0), one(0.3, 79.7, 79.7), one(0.5, 79.0, 79.0)
    assert pick([far, best, near], PUBLIC) == 2
    assert pick([best, far], PUBLIC) == 0, "a point is too much"
    assert pick([one(0.3, 81.0, 81.0), best, near], PUBLIC) == 0, "the best of those that differ"


def test_one_standard_error_is_tolerated_too() -> None:
    best, personal = one(0.0, 75.0, 85.0), one(SHARES[0], 77.0, 81.4)
    assert pick([best, personal], PUBLIC) == 1
    personal["val"] = [76.0, 81.0]
    assert pick([best, personal], PUBLIC) == 0, "more than a point is never little"
    best["val"], personal["val"] = [79.0, 81.0], [78.0, 80.0]
    assert pick([best, personal], PUBLIC) == 0, "the runs are paired"


def test_random_splits_of_one_graph_tell_less_than_their_number() -> None:
    best = one(0.0, *[80.0, 84.0] * 25)
    personal = one(SHARES[0], *[80.5, 82.0] * 25)
    # A mean difference of 0.75, of which fifty runs alone would make 0.18 of standard error.
    assert pick([best, personal], PUBLIC) == 0
    assert pick([best, personal], RANDOM) == 1
    assert corrected_error(0.2, 50, RANDOM) == pytest.approx(0.2 * (1 + 50 / 3) ** 0.5)
    assert corrected_error(0.2, 50, PUBLIC) == 0.2


def test_some_who_differ_are_better_than_none() -> None:
    best, few, many = one(0.0, 80.0, 80.0), one(SHARES[1], 79.8, 79.8), one(SHARES[0], 78.0, 78.0)
    assert pick([best, few, many], PUBLIC) == 1
    assert pick([best, few, one(SHARES[0], 79.6, 79.6)], PUBLIC) == 2


@pytest.mark.parametrize("off", [None, 0.0, SHARES[1] - 0.01])
def test_validation_alone_decides_where_no_nodes_differ(off: float | None) -> None:
    assert pick([one(off, 70.0), one(off, 71.0), one(None, 71.0 - TOLERATED / 2)], PUBLIC) == 1


def test_half_of_the_finalists_differ_where_there_are_such() -> None:
    results = [one(0.0, 80.0 - i) for i in range(4)] + [one(0.5, 60.0), one(0.5, 61.0)]
    assert finalists(results, 4) == [0, 1, 5, 4]
    assert finalists(results[:4], 4) == [0, 1, 2, 3]
    assert finalists(results, 1) == [0]
