"""Sparse matrices in CSR form and the one product that everything here propagates with.

``multiply`` serves R runs at once: ``out[r] = alpha * M_r @ h[r] + beta * other[r]``, where the
M_r share their pattern and may differ in their values (dropout). Each run's embeddings lie
together in memory, so that they stay in the cache while their product is computed.
"""

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ppro.compute.blocks import each_block, row_blocks

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")

WIDE, LARGE = 16, 250_000
"""Columns, or elements of a run's embeddings, from which embedding_bag is the faster CPU kernel."""
HUGE, BLOCK_ROWS = 4_000_000, 16_384
"""Elements of a run's result from which it is made in blocks of rows, and rows in a block."""


def csr(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a CSR tensor from entries sorted by row."""
    counts = torch.bincount(rows, minlength=shape[0])
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return _csr(starts, columns, values, shape)


def _csr(starts: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_csr_tensor(starts, columns, values, shape, check_invariants=False)


def from_rows(starts: Tensor, columns: Tensor, values: Tensor, width: int | None = None) -> Tensor:
    """Return a CSR tensor from where its rows begin, with 32-bit indices where they suffice.

    Args:
        width: the number of columns; that of the rows when None.
    """
    nodes = starts.shape[0] - 1
    width = nodes if width is None else width
    index = torch.int32 if max(values.shape[0], nodes, width) < 2**31 else torch.int64
    return _csr(starts.to(index), columns.to(index), values, (nodes, width))


def compact(matrix: Tensor) -> Tensor:
    """The same CSR matrix with 32-bit indices where they suffice: the kernels are faster so."""
    index = torch.int32 if max(matrix.values().shape[0], *matrix.shape) < 2**31 else torch.int64
    starts, columns = matrix.crow_indices().to(index), matrix.col_indices().to(index)
    return _csr(starts, columns, matrix.values(), matrix.shape)


def with_values(matrix: Tensor, values: Tensor) -> Tensor:
    """Return the CSR matrix with the same pattern and other values."""
    return _csr(matrix.crow_indices(), matrix.col_indices(), values, matrix.shape)


def row_indices(matrix: Tensor) -> Tensor:
    """Return the row of each stored entry of a CSR matrix."""
    lengths = matrix.crow_indices().diff()
    return torch.repeat_interleave(torch.arange(matrix.shape[0], device=matrix.device), lengths)


def transpose(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """The transpose of a CSR matrix, and the position of each of its entries in the original."""
    rows, columns = row_indices(matrix), matrix.col_indices().long()
    order = torch.argsort(columns, stable=True)
    shape = (matrix.shape[1], matrix.shape[0])
    return compact(csr(columns[order], rows[order], matrix.values()[order], shape)), order


def multiply(
    matrix: Tensor,
    h: Tensor,
    *,
    values: Tensor | None = None,
    alpha: float = 1.0,
    other: Tensor | None = None,
    beta: float = 0.0,
    out: Tensor | None = None,
) -> Tensor:
    """out[r] = alpha * M_r @ h[r] + beta * other[r] of every run, without autograd.

    Args:
        matrix: the pattern of the M_r, and their values where they share them. ``[rows, columns]``.
        h: Shape ``[R, columns, d]``, contiguous.
        values: the values of each M_r where they differ. Shape ``[R, nnz]``.
        other: Shape ``[R, rows, d]``; left out when None.
        out: where to write to; not ``h``.

    Returns:
        Shape ``[R, rows, d]``.
    """
    if out is None and h.shape[0] == 1 and _is_one_bag_product(matrix, h, alpha, other):
        left = matrix if values is None else with_values(matrix, values[0])
        return _bags(left.crow_indices(), left.col_indices(), left.values(), h[0]).unsqueeze(0)
    if out is None:
        out = h.new_empty(h.shape[0], matrix.shape[0], h.shape[2])
    if h.is_cuda and (kernel := _gpu_kernel()) is not None:
        return kernel(matrix, h, values, alpha, other, beta, out)
    for run in range(h.shape[0]):
        left = matrix if values is None else with_values(matrix, values[run])
        right = h[run]
        product = _bagged if _suits_bags(right) else _library
        product(left, right, alpha, None if other is None else other[run], beta, out[run])
    return out


@cache
def _gpu_kernel() -> Callable[..., Tensor] | None:
    """Return the fused kernel, or None where there is no Triton: then the sparse library serves."""
    try:
        from ppro.compute.gpu import multiply_on_gpu
    except ImportError:
        return None
    return multiply_on_gpu


def _suits_bags(h: Tensor) -> bool:
    return h.dtype == torch.float32 and not h.is_cuda and (h.shape[1] >= WIDE or h.numel() >= LARGE)


def _bagged(
    left: Tensor, h: Tensor, alpha: float, other: Tensor | None, beta: float, out: Tensor
) -> None:
    """Rows of the product as weighted bags of rows of h: PyTorch's best CPU kernel for it.

    A huge result is made in blocks of rows, one for each thread at a time, so that threads do not
    wait for the one with the longest rows. Its rows are fetched from anywhere in memory, so h is
    copied to where none of them lies across two lines.
    """
    starts, columns, values = left.crow_indices(), left.col_indices(), left.values()
    if out.numel() < HUGE:
        _combine(_bags(starts, columns, values, h), alpha, other, beta, out)
        return

    width, h = h.shape[1], _in_lines(h)

    @torch.no_grad()
    def work(rows: slice) -> None:
        begin, end = int(starts[rows.start]), int(starts[rows.stop])
        own = starts[rows.start : rows.stop + 1] - begin
        product = _bags(own, columns[begin:end], values[begin:end], h)[:, :width]
        _combine(product, alpha, None if other is None else other[rows], beta, out[rows])

    each_block(work, row_blocks(out.shape[0], BLOCK_ROWS))


def _bags(starts: Tensor, columns: Tensor, values: Tensor, h: Tensor) -> Tensor:
    """Return the rows of a product as weighted bags of rows of h."""
    made: Tensor = torch.embedding_bag(h, columns, starts, False, 0, False, values, True)[0]
    return made


def _is_one_bag_product(matrix: Tensor, h: Tensor, alpha: float, other: Tensor | None) -> bool:
    """Tell whether the kernel's own result, of one run, is the product asked for."""
    plain = alpha == 1.0 and other is None and matrix.shape[0] * h.shape[2] < HUGE
    return plain and _suits_bags(h[0])


def _in_lines(h: Tensor) -> Tensor:
    """Return h with columns of zeros behind, so that its rows lie within lines of 64 bytes.

    Narrower ones rarely cross a line, wider ones always do.
    """
    narrow, line = 4, 16
    width = h.shape[1]
    padded = 1 << (width - 1).bit_length()
    if not narrow < width < padded <= line:
        return h
    wide = h.new_zeros(h.shape[0], padded)
    wide[:, :width] = h
    return wide


def _combine(product: Tensor, alpha: float, other: Tensor | None, beta: float, out: Tensor) -> None:
    """out = alpha * product + beta * other."""
    if other is None:
        torch.mul(product, alpha, out=out)
    elif alpha == 1 - beta:
        torch.lerp(product, other, beta, out=out)
    else:
        torch.add(product.mul_(alpha), other, alpha=beta, out=out)


def _library(
    left: Tensor, h: Tensor, alpha: float, other: Tensor | None, beta: float, out: Tensor
) -> None:
    """The sparse library's product."""
    added, share = (out, 0.0) if other is None else (other, beta)
    torch.addmm(added, left, h, beta=share, alpha=alpha, out=out)


def csr_tensor(matrix: sp.csr_matrix) -> Tensor:
    """Return a SciPy matrix as a float32 CSR tensor with sorted columns and no stored zero."""
    matrix = sp.csr_matrix(matrix, dtype=np.float32, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data),
        size=matrix.shape,
        check_invariants=True,
    )
