"""Edges by rows (where each row begins, and its columns): passes over them in blocks of rows.

No pass makes a 64-bit array as long as the edges; all run on the threads PyTorch may use.
"""

import numpy as np
import torch
from torch import Tensor

from ppro.compute.blocks import each_block, row_blocks

BLOCK_ROWS = 16_384


def _blocks(starts: Tensor) -> list[slice]:
    return row_blocks(starts.shape[0] - 1, BLOCK_ROWS)


def block_pairs(starts: Tensor, columns: Tensor, rows: slice) -> tuple[Tensor, Tensor, slice]:
    """Row and column of the entries of some rows, int64, and where the entries lie."""
    bounds = starts[rows.start : rows.stop + 1].long()
    entries = slice(int(bounds[0]), int(bounds[-1]))
    numbers = torch.arange(rows.start, rows.stop)
    return torch.repeat_interleave(numbers, bounds.diff()), columns[entries].long(), entries


def looped(starts: Tensor, columns: Tensor, numbers: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return the same rows with each node in its own row, still sorted.

    Args:
        numbers: the node of each row where they are not all rows in order. Shape ``[rows]``.
    """
    nodes = starts.shape[0] - 1
    numbers = torch.arange(nodes) if numbers is None else numbers
    out = columns.new_empty(columns.shape[0] + nodes)

    def work(rows: slice) -> None:
        row, column, entries = block_pairs(starts, columns, rows)
        above = column > numbers[row]
        place = torch.arange(entries.start, entries.stop) + row + above
        out[place] = columns[entries]
        own = torch.arange(rows.start, rows.stop)
        below = torch.zeros_like(own).index_add_(0, row - rows.start, (~above).long())
        out[starts[rows].long() + own + below] = numbers[rows].to(out.dtype)

    each_block(work, _blocks(starts))
    return starts + torch.arange(nodes + 1), out


def normalised_values(
    starts: Tensor,
    columns: Tensor,
    of_row: Tensor | None,
    of_column: Tensor | None,
    weight: Tensor | None = None,
) -> Tensor:
    """Weight times factor of the row times factor of the column of each entry. ``[E]``, float32.

    The products are of float64, in this order; what is None counts as 1.
    """
    out = torch.empty(columns.shape[0])

    def work(rows: slice) -> None:
        row, column, entries = block_pairs(starts, columns, rows)
        values = torch.ones(1, dtype=torch.float64)
        if weight is not None:
            values = weight[entries].to(torch.float64)
        if of_row is not None:
            values = values * of_row[row]
        out[entries] = (values if of_column is None else values * of_column[column]).float()

    each_block(work, _blocks(starts))
    return out


def neighbour_sums(starts: Tensor, columns: Tensor, x: Tensor) -> Tensor:
    """Σ_j A_ij x_j of every row. Shape ``[rows]``, float64."""
    begins = starts.numpy()
    out = np.zeros(starts.shape[0] - 1)

    def work(rows: slice) -> None:
        bounds = begins[rows.start : rows.stop + 1]
        filled = bounds[1:] > bounds[:-1]
        if filled.any():
            seen = torch.index_select(x, 0, columns[bounds[0] : bounds[-1]])
            out[rows][filled] = np.add.reduceat(seen.numpy(), bounds[:-1][filled] - bounds[0])

    each_block(work, _blocks(starts))
    return torch.from_numpy(out)
