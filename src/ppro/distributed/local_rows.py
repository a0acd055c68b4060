"""Rows of the adjacency that a rank owns, taken from a graph by the numbers of their nodes."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.compute.blocks import each_block, row_blocks
from ppro.compute.edge_rows import BLOCK_ROWS, block_pairs, looped
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Some rows of an adjacency.

    Args:
        starts: where the entries of each row begin. Shape ``[rows + 1]``, int64.
        columns: the numbers of the neighbours in the whole graph, sorted in each row. ``[nnz]``.
        weight: of each entry, or None for ones. Shape ``[nnz]``.
    """

    starts: Tensor
    columns: Tensor
    weight: Tensor | None

    @property
    def degree(self) -> Tensor:
        """Return the sum of each row. Shape ``[rows]``, float64."""
        if self.weight is None:
            return self.starts.diff().to(torch.float64)
        rows = torch.repeat_interleave(torch.arange(self.starts.shape[0] - 1), self.starts.diff())
        total = torch.zeros(self.starts.shape[0] - 1, dtype=torch.float64)
        return total.index_add_(0, rows, self.weight.to(torch.float64))


def edges_by_rows(graph: Graph) -> tuple[Tensor, Tensor, Tensor | None]:
    """Where the neighbours of each node begin, the neighbours, and the weights of the edges."""
    if isinstance(graph, LargeGraph):
        return graph.starts, graph.columns, None
    counts = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return starts, graph.edge_index[1], graph.edge_weight


def rows_of(graph: Graph, nodes: Tensor, *, self_loops: bool) -> LocalRows:
    """Return the rows of some nodes, in the order of ``nodes``."""
    starts, columns, weight = edges_by_rows(graph)
    begins = starts_of(starts, nodes)
    near = gather(starts, columns, nodes, begins)
    # In memory or on disk, the numbers of neighbours take 32 bits where they can.
    near = near.to(torch.int32 if graph.num_nodes < 2**31 else torch.int64)
    own = None if weight is None else gather(starts, weight, nodes, begins)
    if not self_loops:
        return LocalRows(begins, near, own)
    begins, near = looped(begins, near, nodes)
    if own is not None:
        rows = torch.repeat_interleave(nodes, begins.diff())
        weights = torch.ones(near.shape[0], dtype=own.dtype)
        weights[near != rows] = own
        own = weights
    return LocalRows(begins, near, own)


def starts_of(starts: Tensor, nodes: Tensor) -> Tensor:
    """Where the entries of some rows begin once nothing else is left. Shape ``[rows + 1]``."""
    lengths = starts[nodes + 1] - starts[nodes]
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]).long()


def gather(starts: Tensor, values: Tensor, nodes: Tensor, begins: Tensor) -> Tensor:
    """Return the entries of some rows, one after the other, without long temporaries.

    Args:
        starts: where the entries of every row begin in ``values``.
        begins: :func:`starts_of` these rows.
    """
    out = values.new_empty(int(begins[-1]))

    def work(rows: slice) -> None:
        bounds = begins[rows.start : rows.stop + 1]
        moved = starts[nodes[rows]].long() - bounds[:-1]
        places = torch.arange(int(bounds[0]), int(bounds[-1]))
        places += torch.repeat_interleave(moved, bounds.diff())
        out[int(bounds[0]) : int(bounds[-1])] = values[places]

    each_block(work, row_blocks(nodes.shape[0], BLOCK_ROWS))
    return out


def foreign_pairs(rows: LocalRows, owner: Tensor, rank: int) -> Tensor:
    """Each row and other rank that owns a neighbour of it, once: ``rank * rows + row``, sorted."""
    count = rows.starts.shape[0] - 1

    def work(part: slice) -> Tensor:
        row, column, _ = block_pairs(rows.starts, rows.columns, part)
        at = owner[column].long()
        outside = at != rank
        found: Tensor = torch.unique(at[outside] * count + row[outside])
        return found

    found = each_block(work, row_blocks(count, BLOCK_ROWS))
    pairs: Tensor = torch.unique(torch.cat(found))
    return pairs
