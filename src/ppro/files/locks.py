"""Locks that the system frees when their holder is gone, however it ended."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows
    fcntl = None  # type: ignore[assignment]


def take_lock(path: Path, *, wait: bool = False) -> int | None:
    """Return a handle that holds the lock of a file or folder, or None where it cannot be had."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold the lock of a file while the block lasts; tells whether it could be had.

    The file is made, and removed at the end. Where the system knows no locks, it always can.

    Raises:
        OSError: the file cannot be made.
    """
    handle = _made_and_locked(path)
    try:
        yield handle is not None or fcntl is None
    finally:
        if handle is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            os.close(handle)


def _made_and_locked(path: Path) -> int | None:
    while True:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666))
        handle = take_lock(path)
        if handle is None:
            return None
        # Its holder may have removed it in between: then this lock keeps nobody out.
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)
