"""What is odd about features in a file, found in one pass over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppro.compute.blocks import row_blocks
from ppro.graph.large import FeatureRows

BLOCK = 2**21
"""Values looked at at a time."""


@dataclass(frozen=True)
class FeatureFacts:
    """Features that never vary, nodes whose features are all zero, nodes with those of another."""

    constant: int
    zero: int
    twins: int


def feature_facts(features: FeatureRows) -> FeatureFacts:
    """Count them; rows are compared by a 64-bit hash, so memory is 8 bytes for each node."""
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
        hashes[rows] = _hashed(block, factors)
    constant, different = int((low == high).sum()), int(np.unique(hashes).size)
    return FeatureFacts(constant, zero, nodes - different)


def _hashed(block: NDArray[np.float32], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each row: its bits, scattered and added with random odd factors."""
    bits = block.view(np.uint32).astype(np.uint64)
    bits ^= bits << np.uint64(31)
    hashed: NDArray[np.uint64] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return hashed
