from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.data import load_graph, make_splits
from ppro.data.drawn import drawn_splits, per_class_masks, random_masks
from ppro.data.names import is_drawn, labels_per_class
from ppro.errors import DataError

label_lists = st.lists(st.integers(-1, 5), min_size=1, max_size=120)
seeds = st.integers(0, 2**32)


@settings(deadline=None)
@given(label_lists, seeds)
def test_random_parts_are_disjoint_and_cover_the_labelled_nodes(
    labels: list[int], seed: int
) -> None:
    masks = random_masks(torch.tensor(labels), seed)
    times = masks.train.astype(int) + masks.val + masks.test
    np.testing.assert_array_equal(times[0], np.array(labels) != -1)


@settings(deadline=None)
@given(label_lists, seeds)
def test_every_class_has_a_training_node(labels: list[int], seed: int) -> None:
    train = random_masks(torch.tensor(labels), seed).train[0]
    assert {labels[i] for i in np.flatnonzero(train)} == set(labels) - {-1}


@settings(deadline=None)
@given(label_lists, seeds)
def test_random_parts_are_determined_by_the_seed(labels: list[int], seed: int) -> None:
    one, two = (random_masks(torch.tensor(labels), seed) for _ in range(2))
    np.testing.assert_array_equal(one.train, two.train)
    np.testing.assert_array_equal(one.val, two.val)


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        *((1, (1, 0, 0)), (2, (1, 0, 1)), (3, (2, 1, 0)), (4, (2, 1, 1))),
        *((5, (3, 1, 1)), (100, (60, 20, 20))),
    ],
)
def test_sizes_of_the_parts_of_a_class(size: int, parts: tuple[int, int, int]) -> None:
    masks = random_masks(torch.zeros(size, dtype=torch.int64), 0)
    assert (masks.train.sum(), masks.val.sum(), masks.test.sum()) == parts


def test_each_class_is_split_by_itself() -> None:
    labels = torch.arange(100) % 2
    train = random_masks(labels, 3).train[0]
    assert Counter(labels[torch.from_numpy(train)].tolist()) == {0: 30, 1: 30}


def test_run_r_of_a_seed_is_run_0_of_the_seed_r_later() -> None:
    labels = torch.arange(50) % 3
    many = drawn_splits(labels, "random", 4, 10)
    last = drawn_splits(labels, "random", 1, 13)
    assert many.runs == 4
    assert many.name == "random"
    assert torch.equal(many.train[3], last.train[0])
    assert not torch.equal(many.train[0], many.train[1])


@settings(deadline=None)
@given(st.lists(st.integers(4, 60), min_size=2, max_size=6), st.integers(1, 3), seeds)
def test_few_labels_are_so_many_of_each_class(sizes: list[int], count: int, seed: int) -> None:
    labels = torch.cat([torch.full((5,), -1), *(torch.full((m,), c) for c, m in enumerate(sizes))])
    masks = per_class_masks(labels, seed, count)
    train, val, test = masks.train[0], masks.val[0], masks.test[0]
    assert Counter(labels[torch.from_numpy(train)].tolist()) == dict.fromkeys(
        range(len(sizes)), count
    )
    rest = sum(sizes) - count * len(sizes)
    assert (val.sum(), test.sum()) == (max(1, rest // 3), rest - max(1, rest // 3))
    np.testing.assert_array_equal(train.astype(int) + val + test, labels.numpy() != -1)


def test_few_labels_of_many_nodes_leave_500_and_1000() -> None:
    labels = torch.arange(3000) % 5
    splits = drawn_splits(labels, "20-per-class", 3, 7)
    parts = (splits.train, splits.val, splits.test)
    assert [mask.sum(1).tolist() for mask in parts] == [3 * [100], 3 * [500], 3 * [1000]]
    again = drawn_splits(labels, "20-per-class", 1, 9)
    assert torch.equal(again.test[0], splits.test[2])
    assert not torch.equal(splits.train[0], splits.train[1])


def test_a_class_too_small_for_the_labels_asked_for() -> None:
    labels = torch.tensor([0, 0, 0, 1, 1])
    told = "split 2-per-class: 2 labelled in class 1, which leaves none to test; take fewer"
    with pytest.raises(DataError, match=told):
        drawn_splits(labels, "2-per-class", 1, 0)


def test_any_graph_has_few_labels_by_name() -> None:
    graph = load_graph("csbm")
    splits = make_splits(graph, "of my own", "7-per-class", 2, 0)
    assert splits.name == "7-per-class"
    assert splits.train.sum(1).tolist() == [28, 28]


@pytest.mark.parametrize("name", ["0-per-class", "-1-per-class", "02-per-class", "per-class", "x"])
def test_other_names_are_not_of_few_labels(name: str) -> None:
    assert labels_per_class(name) is None
    assert not is_drawn(name)
    with pytest.raises(DataError, match="unknown split"):
        make_splits(load_graph("csbm"), "csbm", name, 1, 0)
