"""Products with X and its transpose, with dropout: sparse or dense, whichever is cheaper."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ppro.compute.dense import adjoint_product, matrix_product
from ppro.compute.noise import Noise, element_ids, matrix_ids
from ppro.compute.sparse import compact, multiply, row_indices, transpose

FEATURE_SITE = 0
SPARSE_BELOW = 0.5
"""Share of entries that are not zero below which the sparse product is the faster on a CPU."""
LARGEST_KEPT = 2**24
"""Elements of a product up to which it is kept for the next pass."""
MOST_KEPT = 8
"""Products that are kept at most: of the layers of all trainings that share the features."""


class KeptProducts:
    """X W of the last W of each layer, where training drops no features: passes want it again.

    These are the second pass of Algorithm 1, the validation, and the first pass of the next epoch.
    A layer is known by where its W lies, and W by its numbers, which cost little to compare.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._of_layer: dict[int, tuple[Tensor, Tensor]] = {}

    def get(self, weight: Tensor, compute: Callable[[], Tensor]) -> Tensor:
        """Return the product, kept or computed; it must not be changed."""
        if weight.is_cuda or not self.wanted:
            return compute()
        # Threads that train different runs ask the same features: a pair is read and set at once.
        kept = self._of_layer.get(weight.data_ptr())
        if kept is not None and torch.equal(kept[0], weight):
            return kept[1].detach()
        made = compute()
        if made.numel() <= LARGEST_KEPT:
            if len(self._of_layer) >= MOST_KEPT:
                self._of_layer.clear()
            self._of_layer[weight.data_ptr()] = weight.detach().clone(), made
        return made.detach()


def wants_sparse(matrix: Tensor) -> bool:
    """Tell whether products with a dense matrix are cheaper through the entries that are not zero.

    On a CPU they are, at all widths of the layer that were timed.
    """
    if matrix.layout == torch.sparse_csr or matrix.is_cuda:
        return False
    return int(matrix.count_nonzero()) < SPARSE_BELOW * matrix.numel()


class SparseDropped:
    """A sparse matrix M (X or its transpose) and dropout(M) times a matrix of each run."""

    def __init__(self, matrix: Tensor, ids: Tensor) -> None:
        self.matrix, self.ids = matrix, ids

    @classmethod
    def pair(cls, matrix: Tensor, numbers: Tensor) -> tuple[SparseDropped, SparseDropped]:
        """X and its transpose; an element has the same id in both."""
        matrix = compact(matrix)
        ids = element_ids(numbers[row_indices(matrix)], matrix.col_indices())
        adjoint, order = transpose(matrix)
        return cls(matrix, ids), cls(adjoint, ids[order])

    def product(self, right: Tensor, noise: Noise | None) -> Tensor:
        """dropout(M) right. Shapes: ``[R, columns, d]`` to ``[R, rows, d]``."""
        values = None
        if noise is not None:
            values = noise.drop(
                self.matrix.values().unsqueeze(0), self.ids.unsqueeze(0), FEATURE_SITE
            )
        return multiply(self.matrix, right.contiguous(), values=values)


class DenseDropped:
    """A dense matrix M (X or its transpose) and dropout(M) times a matrix of each run.

    Args:
        x: X. Shape ``[n, f]``.
        ids: dropout ids of its elements.
        turned: whether M is the transpose.
    """

    def __init__(self, x: Tensor, ids: Tensor, *, turned: bool) -> None:
        self.x, self.ids, self.turned = x, ids, turned

    @classmethod
    def pair(cls, matrix: Tensor, numbers: Tensor) -> tuple[DenseDropped, DenseDropped]:
        """X and its transpose; an element has the same id in both."""
        ids = matrix_ids(numbers, matrix.shape[1])
        return cls(matrix, ids, turned=False), cls(matrix, ids, turned=True)

    @property
    def matrix(self) -> Tensor:
        """M."""
        return self.x.t() if self.turned else self.x

    def product(self, right: Tensor, noise: Noise | None) -> Tensor:
        """dropout(M) right. Shapes: ``[R, columns, d]`` to ``[R, rows, d]``."""
        if noise is None and right.is_cuda:
            return torch.matmul(self.matrix, right)
        if noise is None:
            of_run = adjoint_product if self.turned else matrix_product
            made = [of_run(self.x, each) for each in right]
            return made[0].unsqueeze(0) if len(made) == 1 else torch.stack(made)
        if right.is_cuda:
            return torch.bmm(self._dropped(noise), right)
        rows = self.x.shape[1 if self.turned else 0]
        out = right.new_empty(right.shape[0], rows, right.shape[2])
        for run in range(right.shape[0]):
            # One run at a time: X of all runs at once may not fit memory.
            out[run] = matrix_product(self._dropped(noise.run(run))[0], right[run])
        return out

    def _dropped(self, noise: Noise) -> Tensor:
        """dropout(M) of every run, made in the order in which X lies in memory."""
        dropped = noise.drop(self.x.unsqueeze(0), self.ids.unsqueeze(0), FEATURE_SITE)
        return dropped.transpose(1, 2) if self.turned else dropped
