"""What a large graph must satisfy and what is odd about it, found block by block."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.compute.blocks import row_blocks
from ppro.data.large.store import PARTS
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED
from ppro.graph.large import FeatureRows

BLOCK = 2**21
"""Values looked at at a time."""

_ODD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


def check_features(path: Path, features: FeatureRows) -> None:
    """Refuse NaN and infinite features."""
    nodes, width = features.shape
    for rows in row_blocks(nodes, max(1, BLOCK // width)):
        block = features.read(rows).numpy()
        if not np.isfinite(block).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            node, value = rows.start + row, block[row, column]
            raise DataError(f"{path}: feature {column} of node {node} is {value}; fill it in")


def check_labels(path: Path, labels: NDArray[np.int32], classes: int) -> None:
    """Refuse labels that are neither a class nor -1. Shape ``[n]``."""
    wrong = (labels < UNLABELLED) | (labels >= classes)
    if wrong.any():
        node = int(wrong.argmax())
        raise DataError(
            f"{path}: label {labels[node]} of node {node}; give 0 to {classes - 1}, or -1 for none"
        )


def check_split(path: Path, split: NDArray[np.uint8]) -> None:
    """Refuse parts that have no meaning. Shape ``[n]``."""
    wrong = split > max(PARTS.values())
    if wrong.any():
        node = int(wrong.argmax())
        raise DataError(f"{path}: part {split[node]} of node {node}; give a number from 0 to 3")


def check_starts(path: Path, starts: NDArray[np.int64], entries: int) -> None:
    """Refuse row starts that do not go from 0 to the number of entries. Shape ``[n + 1]``."""
    if starts[0] != 0 or starts[-1] != entries or (starts[1:] < starts[:-1]).any():
        raise DataError(f"{path}: must rise from 0 to {entries}, never falling; make it again")


def check_neighbours(path: Path, starts: NDArray[np.int64], columns: NDArray[np.int32]) -> None:
    """Refuse neighbours out of range, out of order, repeated, of oneself, or one-sided.

    That every edge stands in both directions is checked by the sum of a hash over the pairs
    below the diagonal and the mirrored pairs above it.
    """
    nodes = starts.size - 1
    balance = 0
    step = max(1, BLOCK * nodes // max(1, columns.size))
    for begin in range(0, nodes, step):
        end = min(begin + step, nodes)
        bounds = starts[begin : end + 1]
        row = np.repeat(np.arange(begin, end), np.diff(bounds))
        column = columns[bounds[0] : bounds[-1]].astype(np.int64)
        _refuse(path, "is no node", row, column, (column < 0) | (column >= nodes))
        _refuse(path, "is the node itself", row, column, row == column)
        again = np.zeros(row.size, dtype=np.bool_)
        again[1:] = (row[1:] == row[:-1]) & (column[1:] <= column[:-1])
        _refuse(path, "is repeated or out of order", row, column, again)
        hashed = _hashed(np.minimum(row, column), np.maximum(row, column))
        below = column < row
        balance += int(hashed[below].sum()) - int(hashed[~below].sum())
    if balance % 2**64:
        raise DataError(f"{path}: an edge stands in one direction only; give both")


def _refuse(path: Path, what: str, row: Any, column: Any, wrong: NDArray[np.bool_]) -> None:
    if wrong.any():
        at = int(wrong.argmax())
        raise DataError(f"{path}: neighbour {column[at]} of node {row[at]} {what}; make it again")


def _hashed(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of ordered pairs, SplitMix64's finaliser."""
    h = low.astype(np.uint64) * np.uint64(_ODD[0]) + high.astype(np.uint64) * np.uint64(_ODD[1])
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
    hashed: NDArray[np.uint64] = h ^ (h >> np.uint64(31))
    return hashed


@dataclass(frozen=True)
class FeatureFacts:
    """Features that never vary, nodes whose features are all zero, nodes with those of another."""

    constant: int
    zero: int
    twins: int


def feature_facts(features: FeatureRows) -> FeatureFacts:
    """Count odd features and nodes.

    Rows are compared by a 64-bit hash, so memory is 8 bytes for each node.
    """
    nodes, width = features.shape
    factors = np.random.default_rng(0).integers(1, 2**63, size=width, dtype=np.uint64) | np.uint64(
        1
    )
    low, high = np.full(width, np.inf, np.float32), np.full(width, -np.inf, np.float32)
    hashes, zero = np.empty(nodes, dtype=np.uint64), 0
    for rows in row_blocks(nodes, max(1, BLOCK // width)):
        # Adding zero makes -0 and 0 the same bits.
        block = features.read(rows).numpy() + np.float32(0)
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        zero += int((~block.any(axis=1)).sum())
        hashes[rows] = _hashed_rows(block, factors)
    constant, different = int((low == high).sum()), int(np.unique(hashes).size)
    return FeatureFacts(constant, zero, nodes - different)


def _hashed_rows(block: NDArray[np.float32], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each row: its bits, scattered and added with random odd factors."""
    bits = block.view(np.uint32).astype(np.uint64)
    bits ^= bits << np.uint64(31)
    hashed: NDArray[np.uint64] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return hashed
