from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.errors import DataError
from ppro.graph.labels import encoded, known_labels

pd = pytest.importorskip("pandas")


def of(values: Any) -> tuple[list[Any], list[Any]]:
    """The codes and the classes."""
    codes, classes = encoded(*known_labels(values, len(values), "graph"), None)
    return codes.tolist(), classes.tolist()


@pytest.mark.parametrize(
    ("values", "codes", "classes"),
    [
        (["b", "a", None, "b"], [1, 0, -1, 1], ["a", "b"]),
        (["b", "a", np.nan], [1, 0, -1], ["a", "b"]),
        (np.array(["b", "a"]), [1, 0], ["a", "b"]),
        (np.array(["b", None], dtype=object), [0, -1], ["b"]),
        ([3, 0, -1, 3], [1, 0, -1, 1], [0, 3]),
        ([3, None, 0], [1, -1, 0], [0, 3]),
        (np.array([2.0, np.nan, 5.0, -1.0]), [0, -1, 1, -1], [2, 5]),
        (torch.tensor([1, -1, 0]), [1, -1, 0], [0, 1]),
        (torch.tensor([[1], [0]]), [1, 0], [0, 1]),
        ([True, False, None], [1, 0, -1], [False, True]),
        (np.array([True, False]), [1, 0], [False, True]),
        (pd.Series(["x", None, "a"]), [1, -1, 0], ["a", "x"]),
        (pd.Series([1, None, 4], dtype="Int64"), [0, -1, 1], [1, 4]),
        ([None, None], [-1, -1], []),
        (np.array([7, 9], dtype=np.uint8), [0, 1], [7, 9]),
        (torch.tensor([7, 9], dtype=torch.bfloat16), [0, 1], [7, 9]),
        (np.ma.masked_equal([7, 9, 4], 9), [1, -1, 0], [4, 7]),
    ],
)
def test_labels_become_positions_among_sorted_classes(
    values: Any, codes: list[int], classes: list[Any]
) -> None:
    assert of(values) == (codes, classes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 1, -3], "label -3 of node 2 is negative"),
        ([0.5, 1.0], r"label 0\.5 of node 0 is not a whole number"),
        (np.array([1.0, np.inf]), "label inf of node 1 is infinite"),
        (np.array([1.0, 1e300]), r"label 1e\+300 of node 1 is too large"),
        (
            np.array([2**63 + 5, 1], dtype=np.uint64),
            "label 9223372036854775813 of node 0 is too la",
        ),
        (np.array([1 + 2j, 0]), "labels of types complex"),
        (["a", 1], "labels of types int, str; make them all text or all whole numbers"),
        ([True, 1, "a"], "labels of types"),
        ([object(), object()], "labels of types object"),
        (torch.zeros(2, 2), r"labels of shape \(2, 2\) for 2 nodes"),
    ],
)
def test_what_is_wrong_is_named(values: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        known_labels(values, len(values), "graph")


def test_one_label_for_each_node() -> None:
    with pytest.raises(DataError, match=r"labels of shape \(2,\) for 3 nodes; give one for each"):
        known_labels(["a", "b"], 3, "graph")


def test_labels_that_are_no_class_of_a_model_have_no_code() -> None:
    codes, _ = encoded(*known_labels(["a", "z"], 2, "graph"), np.array(["a", "b"]))
    assert codes.tolist() == [0, -1]


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1))
def test_classes_give_the_labels_back(values: list[str | None]) -> None:
    codes, classes = encoded(*known_labels(values, len(values), "graph"), None)
    back = [None if code < 0 else classes[code] for code in codes.tolist()]
    # NumPy drops NUL characters at the end of a text.
    assert back == [None if value is None else value.rstrip("\0") for value in values]
