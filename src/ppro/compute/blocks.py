"""Work on rows, block by block: on several threads, and with gradients that store nothing.

A block is small enough for the cache of a core. Threads take whole blocks and use no threads
inside them, so that they wait for each other once in a pass and not in every operation.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

TASK = 16
"""Blocks that a thread takes at a time in a backward pass, to add up their gradients."""


def row_blocks(rows: int, size: int, first: int = 0) -> list[slice]:
    """Return rows ``first`` .. ``rows`` in blocks of ``size``, the last one shorter."""
    return [slice(begin, min(begin + size, rows)) for begin in range(first, rows, size)]


def each_block(work: Callable[[slice], T], blocks: Sequence[slice]) -> list[T]:
    """Return the result of every block, in their order, on as many threads as PyTorch may use here.

    Each thread has a grad mode of its own, on at first: work that needs another one sets it.
    """
    threads = min(torch.get_num_threads(), len(blocks))
    if threads <= 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        return list(pool.map(work, blocks))


def in_blocks(
    compute: Callable[[slice], Tensor], rows: int, size: int, parameters: Sequence[Tensor]
) -> Tensor:
    """Return the rows of ``compute``, one block after the other, differentiable in the parameters.

    Only the result is kept: the backward pass computes each block again, so that memory is that
    of a few blocks whatever lies between.

    Args:
        compute: the rows of a block. It gives the same when called again. Shape ``[R, b, …]``.
        rows: how many rows there are.
        size: rows in a block; where one block suffices, autograd records it as usual.
        parameters: all that ``compute`` depends on and that may want a gradient.

    Returns:
        Shape ``[R, rows, …]``.
    """
    if rows <= size:
        return compute(slice(0, rows))
    out: Tensor = _InBlocks.apply(compute, rows, size, *parameters)  # type: ignore[no-untyped-call]
    return out


class _InBlocks(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, compute: Callable[[slice], Tensor], rows: int, size: int, *parameters: Tensor
    ) -> Tensor:
        ctx.compute, ctx.rows, ctx.size = compute, rows, size
        ctx.save_for_backward(*parameters)
        head = compute(slice(0, size))
        out = head.new_empty(head.shape[0], rows, *head.shape[2:])
        out[:, :size] = head

        @torch.no_grad()
        def fill(block: slice) -> None:
            out[:, block] = compute(block)

        each_block(fill, row_blocks(rows, size, first=size))
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        (gradient,), parameters = grads, ctx.saved_tensors
        wanted = [p for p, needs in zip(parameters, ctx.needs_input_grad[3:], strict=True) if needs]

        def total_of(task: slice) -> list[Tensor]:
            totals = [torch.zeros_like(p, dtype=torch.float64) for p in wanted]
            for block in row_blocks(task.stop, ctx.size, first=task.start):
                with torch.enable_grad():
                    value = ctx.compute(block)
                found = torch.autograd.grad(
                    value, wanted, gradient[:, block], allow_unused=True, materialize_grads=True
                )
                for total, part in zip(totals, found, strict=True):
                    total += part
            return totals

        tasks = each_block(total_of, row_blocks(ctx.rows, ctx.size * TASK))
        summed = iter([torch.stack(parts).sum(0) for parts in zip(*tasks, strict=True)])
        made = [
            next(summed).to(p.dtype) if needs else None
            for p, needs in zip(parameters, ctx.needs_input_grad[3:], strict=True)
        ]
        return (None, None, None, *made)
