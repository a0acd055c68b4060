"""Masks of a training from what the user gave: what is missing is drawn, seeded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED


@dataclass(frozen=True, eq=False)
class Given:
    """The masks that the user gave, or None. Shapes ``[k, n]``: run r takes row r modulo k."""

    train: Tensor | None = None
    val: Tensor | None = None
    test: Tensor | None = None


def complete_masks(labels: Tensor, given: Given, *, runs: int, seed: int, share: float) -> Splits:
    """Training, validation and test nodes of every run.

    Without a training mask every labelled node trains that is in no other mask. Without a
    validation mask a share of the training nodes is held out: of a class with m of them
    ``share * m``, rounded half up, but never the last one; run r is drawn with ``seed + r``.

    Raises:
        DataError: masks overlap, hold unlabelled nodes, or leave nothing to train or validate on.
    """
    drawn = [_of_run(labels, given, run, seed, share) for run in range(runs)]
    train, val, test = (torch.stack(part) for part in zip(*drawn, strict=True))
    name = "given" if given.val is not None else f"{share:.0%} held out to validate"
    return Splits.from_masks(train, val, test, labels=labels, name=name)


def _of_run(
    labels: Tensor, given: Given, run: int, seed: int, share: float
) -> tuple[Tensor, Tensor, Tensor]:
    nobody = torch.zeros_like(labels, dtype=torch.bool)
    train, val, test = (
        None if mask is None else mask[run % mask.shape[0]]
        for mask in (given.train, given.val, given.test)
    )
    test = nobody if test is None else test
    if train is None:
        train = (labels != UNLABELLED) & ~test & ~(nobody if val is None else val)
    if val is None:
        val = hold_out(labels, train, seed + run, share)
        train = train & ~val
    return train, val, test


def hold_out(labels: Tensor, train: Tensor, seed: int, share: float) -> Tensor:
    """A share of the training nodes, drawn class by class; at least one. Shape ``[n]``, bool."""
    rng = np.random.default_rng(seed)
    classes, candidates = labels.numpy(), (train & (labels != UNLABELLED)).numpy()
    held = np.zeros(classes.size, dtype=np.bool_)
    spare = []
    for c in np.unique(classes[candidates]):
        members = rng.permutation(np.flatnonzero(candidates & (classes == c)))
        count = min(int(share * members.size + 0.5), members.size - 1)
        held[members[:count]] = True
        spare += members[1:].tolist()
    if not spare:
        raise DataError(
            "no validation node can be held out: every class has one training node at most; "
            "give val_mask, or more labels"
        )
    if not held.any():
        held[spare[int(rng.integers(len(spare)))]] = True
    return torch.from_numpy(held)
