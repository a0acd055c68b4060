"""Of what validates nearly alike, the one whose nodes differ is taken."""

from __future__ import annotations

from typing import Any

import pytest

from ppro.paper.differing import SHARES, TOLERATED, finalists, pick


def one(off: float | None, *val: float) -> dict[str, Any]:
    return {"val": list(val), "val_mean": sum(val) / len(val), "off_common": off}


def test_nodes_that_differ_win_where_they_cost_little() -> None:
    best, near, far = one(0.0, 80.0, 80.0), one(0.3, 79.7, 79.7), one(0.5, 79.0, 79.0)
    assert pick([far, best, near]) == 2
    assert pick([best, far]) == 0, "a point is too much"
    assert pick([one(0.3, 81.0, 81.0), best, near]) == 0, "the best of those that differ"


def test_one_standard_error_is_tolerated_too() -> None:
    best, personal = one(0.0, 70.0, 90.0), one(SHARES[0], 74.0, 84.0)
    assert pick([best, personal]) == 1
    best["val"], personal["val"] = [79.0, 81.0], [78.0, 80.0]
    assert pick([best, personal]) == 0, "the runs are paired"


def test_some_who_differ_are_better_than_none() -> None:
    best, few, many = one(0.0, 80.0, 80.0), one(SHARES[1], 79.8, 79.8), one(SHARES[0], 78.0, 78.0)
    assert pick([best, few, many]) == 1
    assert pick([best, few, one(SHARES[0], 79.6, 79.6)]) == 2


@pytest.mark.parametrize("off", [None, 0.0, SHARES[1] - 0.01])
def test_validation_alone_decides_where_no_nodes_differ(off: float | None) -> None:
    assert pick([one(off, 70.0), one(off, 71.0), one(None, 71.0 - TOLERATED / 2)]) == 1


def test_half_of_the_finalists_differ_where_there_are_such() -> None:
    results = [one(0.0, 80.0 - i) for i in range(4)] + [one(0.5, 60.0), one(0.5, 61.0)]
    assert finalists(results, 4) == [0, 1, 5, 4]
    assert finalists(results[:4], 4) == [0, 1, 2, 3]
    assert finalists(results, 1) == [0]
