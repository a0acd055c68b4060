"""The edges of a graph as a measure sees them, wherever they lie."""

from functools import cached_property

import torch
from torch import Tensor

from ppro.compute.edge_rows import neighbour_sums
from ppro.compute.sparse import csr
from ppro.nn.priority.scale import standardised


class Edges:
    """Edges in memory, as a list of pairs.

    Vectors hold a number for each node at hand, which are all nodes unless several processes share
    the graph. Shapes ``[n]``, float64.

    Args:
        edge_index: both directions of every edge, sorted by row. Shape ``[2, E]``.
        num_nodes: n.
    """

    num_own: int
    """Nodes at hand."""
    num_nodes: int
    """Nodes of the whole graph."""

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.edge_index, self.num_nodes, self.num_own = edge_index, num_nodes, num_nodes

    @cached_property
    def _matrix(self) -> Tensor:
        ones = torch.ones(self.edge_index.shape[1], dtype=torch.float64)
        return csr(self.edge_index[0], self.edge_index[1], ones, (self.num_nodes, self.num_nodes))

    def degree(self) -> Tensor:
        """Return the number of neighbours of each node."""
        return torch.bincount(self.edge_index[0], minlength=self.num_nodes).to(torch.float64)

    def with_neighbours(self, x: Tensor) -> Tensor:
        """Return (A + I) x: what each node holds, and what its neighbours hold, added up."""
        sums: Tensor = torch.addmm(x.unsqueeze(1), self._matrix, x.unsqueeze(1)).squeeze(1)
        return sums

    def length(self, x: Tensor) -> Tensor:
        """Return ‖x‖ over all nodes. Shape ``[]``."""
        length: Tensor = x.norm()
        return length

    def largest(self, x: Tensor) -> float:
        """Return the largest |x| over all nodes."""
        return float(x.abs().max())

    def standardised(self, x: Tensor) -> Tensor:
        """Return x with zero mean and unit variance over all nodes."""
        return standardised(x)


class RowEdges(Edges):
    """Edges by rows, which pass through in blocks.

    Args:
        starts: where the neighbours of each node begin. Shape ``[n + 1]``.
        columns: neighbours, both directions, sorted in each row. Shape ``[E]``.
    """

    def __init__(self, starts: Tensor, columns: Tensor) -> None:
        self.starts, self.columns = starts, columns
        self.num_nodes = self.num_own = starts.shape[0] - 1

    def degree(self) -> Tensor:
        """Return the number of neighbours of each node."""
        return self.starts.diff().to(torch.float64)

    def with_neighbours(self, x: Tensor) -> Tensor:
        """Return (A + I) x."""
        return neighbour_sums(self.starts, self.columns, x).add_(x)
