"""Dropout by counting on a CPU: NumPy hashes a block at a time, in memory that stays in the cache.

Its unsigned numbers shift without a mask, and a call costs a fraction of one of PyTorch's. What is
dropped is what :mod:`ppro.compute.noise` says, bit by bit.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.blocks import each_block, row_blocks

ALL_BITS = 2**32 - 1
_MULTIPLIERS = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_SHIFTS = np.uint32(16), np.uint32(13)
BLOCKS_PER_THREAD = 64
"""Blocks from which another thread is worth its start: threads of Python wait for each other
between two calls of NumPy, and for the threads of PyTorch to come to rest."""


def mixed(number: int) -> int:
    """Murmur3's 32-bit finaliser of one number."""
    number &= ALL_BITS
    for shift, multiplier in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        number = ((number ^ (number >> shift)) * multiplier) & ALL_BITS
    return number ^ (number >> 16)


def keys_of(seeds: Sequence[int], moment: int, epoch: int, site: int) -> list[int]:
    """One key for each run, as ``Noise.keys`` gives them, unsigned."""
    return [mixed(mixed(seed + moment * epoch) + site) for seed in seeds]


def dropped(
    ids: Tensor,
    columns: Tensor | None,
    keys: Sequence[int],
    rates: Tensor,
    values: Tensor | None,
    block: int,
) -> Tensor:
    """Return values with elements dropped, or what to multiply them with where there are none.

    Args:
        ids: of elements; of rows where columns are given. Shape ``[R, m, w]``, or 1 for R or w.
        columns: what to add for each column, or None. Shape ``[w]``.
        keys: of each run.
        rates: of each run. Shape ``[R]``.
        values: shape ``[R, m, w]``, or 1 for R; of the same type as the rates.
        block: elements that are hashed at a time.

    Returns:
        Shape ``[R, m, w]``.
    """
    width = ids.shape[2] if columns is None else columns.shape[0]
    out = torch.empty((rates.shape[0], ids.shape[1], width), dtype=rates.dtype)
    made, of_runs = out.numpy(), rates.numpy()
    limits = np.minimum(of_runs.astype(np.float64) * 2**32 - 2**31, 2**31 - 1).astype(np.int32)
    factors = 1 / (1 - of_runs)
    hashed = ids.numpy().view(np.uint32)
    added = None if columns is None else columns.numpy().view(np.uint32)
    given = None if values is None else values.numpy()
    for run, key in enumerate(keys):
        own = hashed[run if len(hashed) > 1 else 0]
        seen = None if given is None else given[run if len(given) > 1 else 0]
        target, rows = made[run], max(1, block // max(1, width))
        if added is None:
            own, target, rows = own.reshape(-1), target.reshape(-1), block
            seen = None if seen is None else seen.reshape(-1)
        right = np.uint32(key) if added is None else added + np.uint32(key)
        _drop_run(own, right, (limits[run], factors[run]), seen, target, rows)
    return out


def _drop_run(
    ids: NDArray[np.uint32],
    added: NDArray[np.uint32] | np.uint32,
    limit_and_factor: tuple[np.int32, np.floating],
    values: NDArray[np.floating] | None,
    out: NDArray[np.floating],
    rows: int,
) -> None:
    """Write a run's elements, some rows at a time; large ones on several threads."""
    limit, factor = limit_and_factor

    def work(part: slice) -> None:
        shape = (min(rows, part.stop - part.start), *out.shape[1:])
        hashes, low = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
        kept = np.empty(shape, np.bool_)
        # Infinity times nothing is no number, as it is everywhere else; nobody is to be warned.
        with np.errstate(invalid="ignore", over="ignore"):
            for block in row_blocks(part.stop, rows, first=part.start):
                count = block.stop - block.start
                h, spare, keep, made = hashes[:count], low[:count], kept[:count], out[block]
                np.add(ids[block], added, out=h)
                for shift, multiplier in zip(_SHIFTS, _MULTIPLIERS, strict=True):
                    np.right_shift(h, shift, out=spare)
                    np.bitwise_xor(h, spare, out=h)
                    np.multiply(h, multiplier, out=h)
                np.greater_equal(h.view(np.int32), limit, out=keep)
                np.multiply(keep if values is None else values[block], keep, out=made)
                np.multiply(made, factor, out=made)

    each_block(work, row_blocks(len(out), _rows_of_a_thread(len(out), rows)))


def _rows_of_a_thread(total: int, rows: int) -> int:
    """Return how many rows one thread takes: all of them, unless there is work for several."""
    blocks = -(-total // rows)
    threads = min(torch.get_num_threads(), max(1, blocks // BLOCKS_PER_THREAD))
    return max(1, -(-blocks // threads)) * rows
