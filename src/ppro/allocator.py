"""The C library's allocator, told to keep what training frees and asks for again in each epoch."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def keep_freed_memory() -> bool:
    """Serve large tensors from memory that was used before, instead of fresh pages each time.

    By default the GNU C library maps every large block anew and hands it back when freed; the
    system then clears page after page again, which on large graphs takes long.
    The price is memory: what lies unused between tensors stays with the process. Returns whether
    this system's library could be told so.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, -1))
