"""The mean over the neighbours of a node, whatever the normalisation of Â."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.compute.attention import kept
from ppro.compute.layers import Dropping
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import row_indices, transpose, with_values


class Averaging(Dropping):
    """A network that takes means over neighbours, a node itself left out.

    Of Â only the pattern counts; the weights of edges play no part. Edge dropout drops entries of
    the mean as it would those of Â.
    """

    _means: Means | None = None

    def means(self, adjacency: Adjacency) -> Adjacency:
        """Return D^-1 A of a pass; it is worked out once: on a GPU that waits for the device."""
        known = adjacency.means()
        if known is not None:
            return known
        if self._means is None or self._means.of is not adjacency.matrix:
            self._means = Means.build(adjacency.matrix)
        return self._means.dropped(adjacency)


@dataclass(frozen=True, eq=False)
class Means:
    """D^-1 A on the pattern of a matrix, whose diagonal is zero.

    Args:
        of: the matrix.
        plain: the means without edge dropout.
        order: which entry each entry of the transpose is.
    """

    of: Tensor
    plain: Adjacency
    order: Tensor

    @classmethod
    def build(cls, matrix: Tensor) -> Means:
        """Count the neighbours."""
        rows, columns = row_indices(matrix), matrix.col_indices().long()
        apart = (rows != columns).to(matrix.values().dtype)
        number = apart.new_zeros(matrix.shape[0]).index_add_(0, rows, apart)
        means = with_values(matrix, apart / number.clamp(min=1)[rows])
        adjoint, order = transpose(means)
        return cls(matrix, Adjacency(means, adjoint), order)

    def dropped(self, adjacency: Adjacency) -> Adjacency:
        """Return the means without the entries that a pass drops."""
        if adjacency.values is None:
            return self.plain
        values = self.plain.matrix.values() * kept(adjacency)
        adjoint_values = torch.index_select(values, 1, self.order)
        return Adjacency(self.plain.matrix, self.plain.adjoint, values, adjoint_values)
