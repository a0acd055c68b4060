"""Training, validation and test nodes of every run: fixed, or completed from masks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ppro.data.readers.raw import BoolArray, Masks
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED


@dataclass(frozen=True, eq=False)
class Splits:
    """The nodes each run trains on, stops by and is tested on.

    Args:
        name: the name of the split.
        train: Shape ``[runs, n]``, bool.
        val: Shape ``[runs, n]``, bool.
        test: Shape ``[runs, n]``, bool.
    """

    name: str
    train: Tensor
    val: Tensor
    test: Tensor

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.train.shape[0])

    @classmethod
    def from_masks(
        cls, train: Tensor, val: Tensor, test: Tensor, *, labels: Tensor, name: str = "custom"
    ) -> Splits:
        """Check masks and keep them.

        Args:
            train: Shape ``[n]`` for one run or ``[runs, n]``, bool; ``val`` and ``test`` alike.
            val: see ``train``; not empty, for early stopping needs it.
            test: see ``train``; may be empty.
            labels: the graph's labels, -1 where not known. Shape ``[n]``.
            name: the name of the split.

        Raises:
            DataError: a mask has the wrong shape, is empty, overlaps another or holds an
                unlabelled node.
        """
        masks = [_checked(name, part, m, labels) for part, m in _parts(train, val, test)]
        train, val, test = masks
        if not train.shape == val.shape == test.shape:
            shapes = ", ".join(str(tuple(mask.shape)) for mask in masks)
            raise DataError(f"split {name}: masks of shapes {shapes}; give each the same runs")
        _check_overlap(name, train, val, test)
        for part, mask in (("train", train), ("val", val)):
            if not bool(mask.any(1).all()):
                raise DataError(
                    f"split {name}: run {int((~mask.any(1)).nonzero()[0])} has no {part} node; "
                    "give it at least one labelled node"
                )
        return cls(name, train, val, test)

    def parts(self, run: int) -> Tensor:
        """Return 1 for nodes of a run that train, 2 that validate, 3 that test, else 0. ``[n]``.

        Where one label a class leaves nothing to validate on, those that train do both.
        """
        part = self.val[run] * 2 + self.test[run] * 3
        return part.masked_fill(self.train[run], 1)

    def take(self, runs: Tensor) -> Splits:
        """Return the masks of some runs, in that order; one may come several times."""
        return Splits(self.name, self.train[runs], self.val[runs], self.test[runs])

    def first(self, runs: int) -> Splits:
        """Return the masks of the first runs; of all where there are no more."""
        return self if runs >= self.runs else self.take(torch.arange(runs))

    def without_test(self) -> Splits:
        """Return the same with no test node in them: a search cannot look where nothing is."""
        return Splits(self.name, self.train, self.val, torch.zeros_like(self.test))


def fixed_splits(masks: Masks, labels: Tensor, name: str, runs: int) -> Splits:
    """``runs`` runs from given masks: run r takes row r modulo the number of rows."""
    rows = np.arange(runs) % masks.train.shape[0]
    train, val, test = (_tensor(part[rows]) for part in (masks.train, masks.val, masks.test))
    return Splits.from_masks(train, val, test, labels=labels, name=name)


def _tensor(mask: BoolArray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(mask))


def _parts(train: Tensor, val: Tensor, test: Tensor) -> tuple[tuple[str, Tensor], ...]:
    return ("train", train), ("val", val), ("test", test)


def _checked(name: str, part: str, mask: Tensor, labels: Tensor) -> Tensor:
    if mask.dtype != torch.bool or mask.dim() not in (1, 2) or mask.numel() == 0:
        raise DataError(
            f"split {name}: {part} must be a bool mask of shape [n] or [runs, n], got "
            f"{tuple(mask.shape)} of {mask.dtype}"
        )
    mask = mask.reshape(-1, mask.shape[-1])
    if mask.shape[1] != labels.shape[0]:
        raise DataError(
            f"split {name}: {part} has {mask.shape[1]} entries for {labels.shape[0]} nodes; "
            "give one per node"
        )
    unknown = mask & (labels == UNLABELLED)
    if bool(unknown.any()):
        raise DataError(
            f"split {name}: {part} holds node {int(unknown.nonzero()[0, 1])}, which has no label; "
            "leave unlabelled nodes out of every mask"
        )
    return mask


def _check_overlap(name: str, train: Tensor, val: Tensor, test: Tensor) -> None:
    twice = (train & val) | (train & test) | (val & test)
    if bool(twice.any()):
        run, node = (int(i) for i in twice.nonzero()[0])
        raise DataError(
            f"split {name}: node {node} of run {run} is in more than one of train, val and test; "
            "keep them apart"
        )


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
    Where no class has a second one, the training nodes validate too, and a warning says so.

    Raises:
        DataError: masks overlap, hold unlabelled nodes, or leave nothing to train or validate on.
    """
    if given.val is None and not any(_can_spare(labels, given, run) for run in range(runs)):
        return _validated_by_training(labels, given, runs)
    drawn = [_of_run(labels, given, run, seed, share) for run in range(runs)]
    train, val, test = (torch.stack(part) for part in zip(*drawn, strict=True))
    name = "given" if given.val is not None else f"{share:.0%} held out to validate"
    return Splits.from_masks(train, val, test, labels=labels, name=name)


def _validated_by_training(labels: Tensor, given: Given, runs: int) -> Splits:
    """Return masks of a graph with one label a class, whose training nodes say when to stop."""
    found = [_given_of_run(labels, given, run) for run in range(runs)]
    train, test = torch.stack([row[0] for row in found]), torch.stack([row[2] for row in found])
    name = "training nodes validate"
    for part, mask in (("train", train), ("test", test)):
        _checked(name, part, mask, labels)
    _check_overlap(name, train, torch.zeros_like(train), test)
    if not bool(train.any(1).all()):
        raise DataError(f"split {name}: no training node; give it at least one labelled node")
    warnings.warn(
        "one label a class at most, and none can be spared to validate: the training nodes "
        "themselves say when to stop; label more, or give val_mask",
        stacklevel=4,
    )
    return Splits(name, train, train.clone(), test)


def _can_spare(labels: Tensor, given: Given, run: int) -> bool:
    """Tell whether some class has two training nodes, of which one may validate."""
    train = _given_of_run(labels, given, run)[0] & (labels != UNLABELLED)
    return bool(train.any()) and int(torch.bincount(labels[train]).max()) > 1


def _given_of_run(labels: Tensor, given: Given, run: int) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return the masks of a run as they are before any node is held out."""
    nobody = torch.zeros_like(labels, dtype=torch.bool)
    train, val, test = (
        None if mask is None else mask[run % mask.shape[0]]
        for mask in (given.train, given.val, given.test)
    )
    test = nobody if test is None else test
    if train is None:
        train = (labels != UNLABELLED) & ~test & ~(nobody if val is None else val)
    return train, val, test


def _of_run(
    labels: Tensor, given: Given, run: int, seed: int, share: float
) -> tuple[Tensor, Tensor, Tensor]:
    train, val, test = _given_of_run(labels, given, run)
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
