from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from ppro.data.drawn import drawn_splits
from ppro.data.readers.raw import Masks
from ppro.data.splits import Splits, fixed_splits
from ppro.errors import DataError


def bools(text: str) -> Tensor:
    return torch.tensor([[c == "1" for c in row] for row in text.split()])


LABELS = torch.tensor([0, 1, 0, 1, -1])


def test_fixed_masks_are_taken_in_turn() -> None:
    rows = np.eye(5, dtype=bool)
    masks = Masks(rows[:2], rows[2:4], np.zeros((2, 5), dtype=bool))
    splits = fixed_splits(masks, LABELS.clamp(min=0), "fixed", 5)
    assert splits.train.int().argmax(1).tolist() == [0, 1, 0, 1, 0]
    assert splits.name == "fixed"


def test_masks_of_one_run_may_be_flat() -> None:
    train, val, test = bools("10000 01000 00100")
    splits = Splits.from_masks(train, val, test, labels=LABELS)
    assert splits.train.shape == (1, 5)
    assert splits.name == "custom"


TWICE = "is in more than one of train, val and test; keep them apart"
LABEL = "which has no label; leave unlabelled nodes out of every mask"
EMPTY = "node; give it at least one labelled node"


@pytest.mark.parametrize(
    ("train", "val", "test", "message"),
    [
        ("11000", "01000", "00100", f"node 1 of run 0 {TWICE}"),
        ("10000", "01000", "01000", f"node 1 of run 0 {TWICE}"),
        ("00000", "01000", "00100", f"run 0 has no train {EMPTY}"),
        ("10000 10000", "01000 00000", "00100 00100", f"run 1 has no val {EMPTY}"),
        ("1000", "0100", "0010", "train has 4 entries for 5 nodes; give one per node"),
        ("10000", "01001", "00100", f"val holds node 4, {LABEL}"),
        ("10000", "01000", "00001", f"test holds node 4, {LABEL}"),
        (
            *("10000 10000", "01000", "00100"),
            "masks of shapes (2, 5), (1, 5), (1, 5); give each the same runs",
        ),
    ],
)
def test_wrong_masks_are_refused(train: str, val: str, test: str, message: str) -> None:
    with pytest.raises(DataError) as refused:
        Splits.from_masks(bools(train), bools(val), bools(test), labels=LABELS, name="mine")
    assert str(refused.value) == f"split mine: {message}"


@pytest.mark.parametrize("shape", [(0,), (0, 5), (1, 1, 5)])
def test_masks_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    wrong = torch.zeros(shape, dtype=torch.bool)
    with pytest.raises(DataError, match=r"train must be a bool mask of shape \[n\] or \[runs, n\]"):
        Splits.from_masks(wrong, wrong, wrong, labels=LABELS)


def test_a_mask_of_one_node_is_a_mask() -> None:
    one, none = bools("1"), bools("0")
    with pytest.raises(DataError, match="run 0 has no val node"):
        Splits.from_masks(one, none, none, labels=torch.tensor([0]))


def test_masks_must_be_bool() -> None:
    numbers = torch.ones(5, dtype=torch.int64)
    with pytest.raises(DataError, match="must be a bool mask"):
        Splits.from_masks(numbers, numbers, numbers, labels=LABELS)


def test_a_graph_too_small_to_validate_stops_by_its_training_nodes() -> None:
    splits = drawn_splits(torch.tensor([0, 1]), "random-60-20-20", 1, 0)
    assert splits.train.tolist() == splits.val.tolist() == [[True, True]]
    assert splits.parts(0).tolist() == [1, 1]
    assert not bool(splits.test.any())


def test_runs_are_taken_in_order_and_test_nodes_hidden() -> None:
    labels = torch.arange(30) % 3
    splits = drawn_splits(labels, "random-60-20-20", 3, 0)
    taken = splits.take(torch.tensor([2, 0, 2]))
    assert torch.equal(taken.train, splits.train[[2, 0, 2]])
    assert torch.equal(taken.test, splits.test[[2, 0, 2]])
    hidden = taken.without_test()
    assert not bool(hidden.test.any())
    assert torch.equal(hidden.val, taken.val)
    assert bool(splits.test.any())
