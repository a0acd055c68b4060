"""Splits that every run draws anew, from the labels of any graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ppro.data.names import labels_per_class
from ppro.data.readers.raw import Masks
from ppro.data.splits import Splits, fixed_splits
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

VALIDATE, TEST = 500, 1000
"""Nodes that validate and test where few train, as in Planetoid's splits."""


def drawn_splits(labels: Tensor, split: str, runs: int, seed: int) -> Splits:
    """Return the masks of every run; run r is drawn with ``seed + r``.

    Args:
        labels: -1 where not known. Shape ``[n]``.
        split: ``random-60-20-20`` (:func:`random_masks`) or ``N-per-class``
            (:func:`per_class_masks`).

    Raises:
        DataError: a class is too small.
    """
    count = labels_per_class(split)
    draw = random_masks if count is None else partial(per_class_masks, count=count)
    return _of_all_runs(draw, labels, split, runs, seed)


def random_masks(labels: Tensor, seed: int) -> Masks:
    """Return one run of the random 60/20/20 split, drawn class by class.

    Of a class with c labelled nodes, ``0.6 c`` train and ``0.2 c`` validate, both rounded half
    up, and the rest is for testing; at least one always trains. Hence one node: train; two:
    train and test; three: two train, one validates. Unlabelled nodes belong to no part.
    """
    classes = labels.cpu().numpy()
    generator = np.random.default_rng(seed)
    train, val, test = np.zeros((3, 1, classes.size), dtype=np.bool_)
    for c in np.unique(classes[classes != UNLABELLED]):
        members = generator.permutation(np.flatnonzero(classes == c))
        first, second = _part_sizes(members.size)
        train[0, members[:first]] = True
        val[0, members[first : first + second]] = True
        test[0, members[first + second :]] = True
    return Masks(train, val, test)


def per_class_masks(labels: Tensor, seed: int, count: int) -> Masks:
    """Return one run of a split with few labels: ``count`` nodes of every class train.

    Of the other labelled nodes, drawn without regard to their class, 500 validate and 1,000 test;
    where there are fewer than 1,500, a third of them validates and the rest tests. A class of one
    node trains, and is neither validated nor tested.

    Raises:
        DataError: a class of several nodes has none beyond those that train.
    """
    classes = labels.cpu().numpy()
    generator = np.random.default_rng(seed)
    train, val, test = np.zeros((3, 1, classes.size), dtype=np.bool_)
    for c in np.unique(classes[classes != UNLABELLED]):
        members = generator.permutation(np.flatnonzero(classes == c))
        if 1 < members.size <= count:
            raise DataError(
                f"split {count}-per-class: {members.size} labelled in class {c}, which leaves none "
                "to test; take fewer of each class, or another split"
            )
        train[0, members[:count]] = True
    rest = generator.permutation(np.flatnonzero((classes != UNLABELLED) & ~train[0]))
    held = VALIDATE if rest.size >= VALIDATE + TEST else max(1, rest.size // 3)
    val[0, rest[:held]] = True
    test[0, rest[held : held + TEST]] = True
    return Masks(train, val, test)


def _of_all_runs(
    draw: Callable[[Tensor, int], Masks], labels: Tensor, split: str, runs: int, seed: int
) -> Splits:
    drawn = [_validated(draw(labels, seed + run)) for run in range(runs)]
    stacked = Masks(
        np.concatenate([masks.train for masks in drawn]),
        np.concatenate([masks.val for masks in drawn]),
        np.concatenate([masks.test for masks in drawn]),
    )
    if stacked.train.any(1).all() and not stacked.val.any():
        # One label a class: none can be spared, so those that train say when to stop.
        train, test = torch.from_numpy(stacked.train), torch.from_numpy(stacked.test)
        return Splits(split, train, train.clone(), test)
    return fixed_splits(stacked, labels, split, runs)


def _validated(masks: Masks) -> Masks:
    """Let every other test node validate where no node does."""
    if masks.val.any():
        return masks
    val, test = masks.val.copy(), masks.test.copy()
    spared = np.flatnonzero(test[0])[::2]
    val[0, spared], test[0, spared] = True, False
    return Masks(masks.train, val, test)


def _part_sizes(members: int) -> tuple[int, int]:
    train = max(1, (6 * members + 5) // 10)
    return train, min((2 * members + 5) // 10, members - train)
