"""The C library's allocator, told to keep what training frees and asks for again in each epoch."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
_LARGEST_BLOCK, _USUAL_MMAP_MAX = 32 * 2**20, 65536


def keep_freed_memory() -> bool:
    """Serve large tensors from memory that was used before, instead of fresh pages each time.

    By default the GNU C library maps every large block anew and hands it back when freed; the
    system then clears page after page again, which on large graphs takes long.
    The price is memory: what lies unused between tensors stays with the process. Returns whether
    this system's library could be told so.
    """
    return _set({_M_MMAP_MAX: 0, _M_TRIM_THRESHOLD: -1})


def return_freed_memory() -> bool:
    """Hand matrices back to the system when they are freed, and keep only smaller blocks.

    On a large graph memory is what runs out: a few matrices of all nodes, which would leave gaps,
    come and go in an epoch, and the many blocks of rows between are small enough to be kept.
    """
    return _set(
        {
            _M_MMAP_MAX: _USUAL_MMAP_MAX,
            _M_MMAP_THRESHOLD: _LARGEST_BLOCK,
            _M_TRIM_THRESHOLD: 4 * _LARGEST_BLOCK,
        }
    )


def _set(options: dict[int, int]) -> bool:
    """Set options of the GNU C library's allocator; False where there is another."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    done = [mallopt(key, value) for key, value in options.items()]
    return all(done)
