"""Features that stay on disk and pass through row-wise layers block by block."""

from collections.abc import Callable, Sequence
from functools import cached_property

import torch
from torch import Tensor

from ppro.compute.blocks import in_blocks
from ppro.compute.features import FEATURE_SITE, NODE_SITE, Features, normalised, rows_of_runs
from ppro.compute.noise import Noise, matrix_ids
from ppro.parts.choices import FeatureForm, FeatureNorm

BLOCK_VALUES = 2**18
"""Values of X in a block: with the masks made for them they fit the cache of a core."""

ReadRows = Callable[[slice], Tensor]
"""Reads rows of X. Shape ``[b, f]``, float32."""


class FeatureBlock(Features):
    """Some rows of X in memory, with the dropout that they have among all rows.

    Args:
        matrix: the rows. Shape ``[b, f]``.
        first: the node of the first of them.
    """

    def __init__(self, matrix: Tensor, first: int) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.matrix = matrix
        self.nodes = torch.arange(first, first + self.shape[0]).unsqueeze(0)

    @cached_property
    def dense(self) -> Tensor:
        """Return the rows."""
        return self.matrix

    def linear(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """dropout(X) W of these rows; the dropped rows are kept for the backward pass."""
        x = self.matrix.unsqueeze(0)
        if noise is None:
            return torch.matmul(x, weight)
        assert self.nodes is not None
        nodes = noise.numbers(self.nodes)
        out = torch.matmul(noise.drop(x, matrix_ids(nodes, self.shape[1]), FEATURE_SITE), weight)
        if noise.node_rates is None:
            return out
        return out * noise.scale(matrix_ids(nodes, 1), NODE_SITE, noise.node_rates)


class BlockedFeatures(Features):
    """X of all nodes, read in blocks of rows each time it is needed.

    Args:
        read: reads rows of X; called from several threads.
        shape: n and f.
        norm: what is done to each row.
        size: rows in a block; chosen from f when None.
    """

    def __init__(
        self,
        read: ReadRows,
        shape: tuple[int, int],
        *,
        norm: FeatureForm | FeatureNorm = "none",
        size: int | None = None,
    ) -> None:
        self.read, self.shape, self.norm = read, shape, norm
        self.size = size or max(256, BLOCK_VALUES // shape[1])

    @property
    def dense(self) -> Tensor:
        """X in memory. Shape ``[n, f]``."""
        return self.block(slice(0, self.shape[0])).dense

    def of_runs(self, runs: int, noise: Noise | None) -> Tensor:
        """X of every run in memory, without the rows that are dropped. Shape ``[R, n, f]``."""
        ids = matrix_ids(torch.arange(self.shape[0]), 1).squeeze(-1).unsqueeze(0)
        return rows_of_runs(self.dense, ids, runs, noise)

    def block(self, rows: slice) -> FeatureBlock:
        """Some of the rows in memory."""
        matrix = self.read(rows)
        return FeatureBlock(normalised(matrix, self.norm).to_dense(), rows.start)

    def linear(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """dropout(X) W of every run, differentiable in W. Shape ``[R, n, d]``."""
        return self.through(lambda block: block.linear(weight, noise), [weight])

    def through(self, layers: Callable[[Features], Tensor], parameters: Sequence[Tensor]) -> Tensor:
        """Row-wise layers over all rows; what lies between X and the result is never stored."""
        return in_blocks(
            lambda rows: layers(self.block(rows)), self.shape[0], self.size, parameters
        )
