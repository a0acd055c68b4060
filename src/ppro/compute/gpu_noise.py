"""Dropout on a GPU: hash, compare and scale in one kernel that stores nothing but its result."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _stirred(x):  # type: ignore[no-untyped-def]
    """``ppro.compute.noise.stir``: 32-bit numbers wrap around as they do there."""
    x = x ^ ((x >> 16) & 0xFFFF)
    x = x * -2048144789
    x = x ^ ((x >> 13) & 0x7FFFF)
    return x * -1028477387


@triton.jit
def _mixed(x):  # type: ignore[no-untyped-def]
    """``ppro.compute.noise.mix``."""
    x = _stirred(x)
    return x ^ ((x >> 16) & 0xFFFF)


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(  # type: ignore[no-untyped-def]  # noqa: PLR0913
    values, ids, seeds, rates, moment, out,
    size, value_stride, id_stride, site_key, epoch_factor,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One program drops BLOCK elements of one run."""
    run = tl.program_id(1).to(tl.int64)
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = element < size
    key = _mixed(_mixed(tl.load(seeds + run) + tl.load(moment) * epoch_factor) + site_key)
    rate = tl.load(rates + run)
    limit = tl.minimum(rate.to(tl.float64) * 4294967296.0 - 2147483648.0, 2147483647.0)
    id = tl.load(ids + run * id_stride + element, mask=inside, other=0)
    kept = _stirred(id + key) >= limit.to(tl.int32)
    value = tl.load(values + run * value_stride + element, mask=inside, other=0.0)
    # In double precision, since the division of single precision is not rounded to the last bit.
    scale = (1.0 / (1.0 - rate).to(tl.float64)).to(tl.float32).to(value.dtype)
    tl.store(out + run * size + element, tl.where(kept, value * scale, 0.0), mask=inside)


class DropOnGpu(torch.autograd.Function):
    """``ppro.compute.noise.Noise.drop`` for tensors on a GPU."""

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        ids: Tensor,
        seeds: Tensor,
        rates: Tensor,
        moment: Tensor,
        site_key: int,
        epoch_factor: int,
    ) -> Tensor:
        """Multiply with 0 or 1 / (1 - rate)."""
        ctx.save_for_backward(ids, seeds, rates, moment)
        ctx.constants, ctx.shared = (site_key, epoch_factor), values.shape[0] < seeds.shape[0]
        return _drop(values, ids, seeds, rates, moment, site_key, epoch_factor)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the same elements of the gradient, scaled alike."""
        grad = _drop(grads[0], *ctx.saved_tensors, *ctx.constants)
        return (grad.sum(0, keepdim=True) if ctx.shared else grad, *[None] * 6)


def _drop(
    values: Tensor,
    ids: Tensor,
    seeds: Tensor,
    rates: Tensor,
    moment: Tensor,
    site_key: int,
    epoch_factor: int,
) -> Tensor:
    runs, shape = seeds.shape[0], values.shape[1:]
    values, ids = values.contiguous(), ids.contiguous()
    out = torch.empty((runs, *shape), dtype=values.dtype, device=values.device)
    size = shape.numel()
    _kernel[triton.cdiv(size, BLOCK), runs](
        values,
        ids,
        seeds,
        rates,
        moment,
        out,
        size,
        size if values.shape[0] > 1 else 0,
        size if ids.shape[0] > 1 else 0,
        site_key,
        epoch_factor,
        BLOCK=BLOCK,
    )
    return out
