"""The sparse product on a GPU: one fused kernel for all runs."""

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(  # type: ignore[no-untyped-def]  # noqa: PLR0913
    starts, columns, values, h, other, out,
    num_rows, num_columns, width, value_stride, alpha, beta,
    MIX: tl.constexpr, WIDE: tl.constexpr, NEIGHBOURS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """One program computes ROWS rows of one run, NEIGHBOURS entries of a row at a time."""
    run = tl.program_id(1).to(tl.int64)
    column = tl.program_id(2) * WIDE + tl.arange(0, WIDE)
    inside = column < width
    source = h + run * num_columns * width
    weights = values + run * value_stride
    for i in range(ROWS):
        row = tl.program_id(0).to(tl.int64) * ROWS + i
        exists = row < num_rows
        first = tl.load(starts + row, mask=exists, other=0)
        last = tl.load(starts + row + 1, mask=exists, other=0)
        total = tl.zeros((WIDE,), dtype=h.dtype.element_ty)
        for position in range(first, last, NEIGHBOURS):
            entry = position + tl.arange(0, NEIGHBOURS)
            present = entry < last
            neighbour = tl.load(columns + entry, mask=present, other=0).to(tl.int64)
            weight = tl.load(weights + entry, mask=present, other=0.0)
            tile = tl.load(
                source + neighbour[:, None] * width + column[None, :],
                mask=present[:, None] & inside[None, :],
                other=0.0,
            )
            total += tl.sum(weight[:, None] * tile, axis=0)
        place = (run * num_rows + row) * width + column
        total = total * alpha
        if MIX:
            total += beta * tl.load(other + place, mask=inside & exists, other=0.0)
        tl.store(out + place, total, mask=inside & exists)


PROGRAMS = 40_000
"""Programs that fill the device; starting many more takes longer than their work."""


def _tile(programs: int, row_length: float, wide: int) -> tuple[int, int]:
    """Return rows of a program and entries it takes at a time, as timed on an H200."""
    if programs < PROGRAMS:
        return 1, 32
    if row_length > 24:
        return (1 if row_length > 200 else 2), 32
    return 4, (8 if wide >= 32 else 16)


def multiply_on_gpu(
    matrix: Tensor,
    h: Tensor,
    values: Tensor | None,
    alpha: float,
    other: Tensor | None,
    beta: float,
    out: Tensor,
) -> Tensor:
    """``ppro.compute.sparse.multiply`` for tensors on a GPU."""
    if h.dtype == torch.float64 and (alpha != 1 or beta not in (0, 1)):
        # A kernel takes its numbers in single precision, so these factors are applied here.
        other = None if other is None else other * beta
        product = multiply_on_gpu(matrix, h, values, 1.0, None, 0.0, out).mul_(alpha)
        return product if other is None else product.add_(other)
    runs, num_columns, width = h.shape
    num_rows, num_entries = matrix.shape[0], matrix.values().shape[0]
    wide = min(128, max(8, triton.next_power_of_2(width)))
    rows, neighbours = _tile(num_rows * runs, num_entries / max(1, num_rows), wide)
    grid = (triton.cdiv(num_rows, rows), runs, triton.cdiv(width, wide))
    shared = values is None
    _kernel[grid](
        matrix.crow_indices(),
        matrix.col_indices(),
        matrix.values() if shared else values,
        h,
        out if other is None else other,
        out,
        num_rows,
        num_columns,
        width,
        0 if shared else num_entries,
        alpha,
        beta,
        MIX=other is not None,
        WIDE=wide,
        NEIGHBOURS=neighbours,
        ROWS=rows,
        num_warps=1,
    )
    return out
