from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.data.splits import Given, complete_masks, hold_out
from ppro.errors import DataError

LABELS = torch.tensor([0] * 10 + [1] * 5 + [2] * 2 + [-1] * 3)
NOBODY = torch.zeros(1, 20, dtype=torch.bool)


def nodes(*members: int) -> torch.Tensor:
    mask = NOBODY.clone()
    mask[0, list(members)] = True
    return mask


def test_without_masks_a_share_of_every_class_is_held_out() -> None:
    splits = complete_masks(LABELS, Given(), runs=2, seed=0, share=0.2)
    for run in range(2):
        train, val = splits.train[run], splits.val[run]
        assert torch.bincount(LABELS[val], minlength=3).tolist() == [2, 1, 0]
        assert torch.equal(train | val, LABELS >= 0)
    assert not bool(splits.test.any())
    assert splits.name == "20% held out to validate"
    again = complete_masks(LABELS, Given(), runs=1, seed=1, share=0.2)
    assert torch.equal(again.val[0], splits.val[1])


def test_test_nodes_and_validation_nodes_do_not_train() -> None:
    given_masks = Given(val=nodes(0, 1), test=nodes(2, 3))
    splits = complete_masks(LABELS, given_masks, runs=1, seed=0, share=0.5)
    assert splits.train[0].nonzero().squeeze(1).tolist() == list(range(4, 17))
    assert torch.equal(splits.val, nodes(0, 1))
    assert splits.name == "given"


def test_only_training_nodes_are_held_out() -> None:
    given_masks = Given(train=nodes(*range(10)), test=nodes(12))
    splits = complete_masks(LABELS, given_masks, runs=1, seed=0, share=0.3)
    assert torch.equal(splits.train | splits.val, nodes(*range(10)))
    assert int(splits.val.sum()) == 3


def test_runs_take_their_rows_in_turn() -> None:
    train = torch.cat([nodes(0, 10), nodes(1, 11)])
    splits = complete_masks(LABELS, Given(train=train, val=nodes(5)), runs=3, seed=0, share=0.2)
    assert torch.equal(splits.train, train[[0, 1, 0]])


def test_overlaps_and_unlabelled_nodes_are_refused() -> None:
    with pytest.raises(DataError, match="in more than one of train, val and test"):
        complete_masks(LABELS, Given(train=nodes(1), val=nodes(1)), runs=1, seed=0, share=0.2)
    with pytest.raises(DataError, match="holds node 19, which has no label"):
        complete_masks(LABELS, Given(train=nodes(1, 2, 19)), runs=1, seed=0, share=0.2)


def test_one_node_is_held_out_at_least_where_that_is_possible() -> None:
    labels = torch.tensor([0, 0, 1])
    train = torch.ones(3, dtype=torch.bool)
    assert int(hold_out(labels, train, 0, 0.1).sum()) == 1
    assert not bool(hold_out(labels, train, 0, 0.1)[2])
    with pytest.raises(DataError, match="every class has one training node at most"):
        hold_out(torch.tensor([0, 1, 2]), train, 0, 0.2)


def test_one_label_a_class_validates_by_its_training_nodes() -> None:
    labels = torch.tensor([0, 1, 2, -1, 0, -1])
    test = torch.tensor([[False, False, False, False, True, False]])
    with pytest.warns(UserWarning, match="none can be spared to validate"):
        splits = complete_masks(labels, Given(test=test), runs=2, seed=0, share=0.2)
    assert splits.train.tolist() == splits.val.tolist() == [[True] * 3 + [False] * 3] * 2
    assert splits.test.tolist() == test.tolist() * 2
    with pytest.raises(DataError, match="in more than one of train"):
        complete_masks(labels, Given(train=test, test=test), runs=1, seed=0, share=0.2)
    unlabelled = torch.tensor([[True, False, False, True, False, False]])
    with pytest.raises(DataError, match="node 3, which has no label"):
        complete_masks(labels, Given(train=unlabelled), runs=1, seed=0, share=0.2)


@given(
    st.lists(st.integers(-1, 3), min_size=2, max_size=40), st.integers(0, 99), st.floats(0.01, 0.99)
)
def test_every_class_keeps_a_training_node(classes: list[int], seed: int, share: float) -> None:
    labels = torch.tensor(classes)
    known = labels >= 0
    counts = torch.bincount(labels[known], minlength=4)
    if int(counts.max()) < 2:
        return
    held = hold_out(labels, known, seed, share)
    assert bool(held.any())
    assert not bool((held & ~known).any())
    left = torch.bincount(labels[known & ~held], minlength=4)
    assert bool((left[counts > 0] > 0).all())
