"""What is being written: held by a lock while its process lives, and removed when that is gone."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ppro.files.locks import take_lock
from ppro.files.names import HIDDEN

STAGED = f"{HIDDEN}stage-"
"""How the names of files and folders begin that are not whole yet."""
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF)


@contextmanager
def staged(home: Path, *, folder: bool) -> Iterator[Path]:
    """A new file or folder of this process in ``home``; it is gone when the block ends.

    What a killed process has left there is removed first.
    """
    remove_stale(home)
    path, lock = _claim(home, folder)
    try:
        yield path
    finally:
        remove(path)
        if lock is not None:
            os.close(lock)


def remove_stale(home: Path) -> None:
    """Remove from a folder what processes were writing that are gone; nothing fails by it."""
    with suppress(OSError):
        for path in home.glob(f"{STAGED}*"):
            lock = take_lock(path)
            if lock is not None:
                remove(path)
                os.close(lock)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file, or a folder with all that it holds, is on the disk."""
    if path.is_dir():
        for inside in path.iterdir():
            flush(inside)
    flush_one(path)


def flush_one(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk.

    Not every system lets a folder be flushed; that the disk is full or broken is told.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def _claim(home: Path, folder: bool) -> tuple[Path, int | None]:
    """Make a file or folder and lock it; try again where another process removed it as stale."""
    while True:
        if folder:
            path = Path(tempfile.mkdtemp(dir=home, prefix=STAGED))
        else:
            handle, name = tempfile.mkstemp(dir=home, prefix=STAGED)
            os.close(handle)
            path = Path(name)
        lock = take_lock(path, wait=True)
        if path.exists():
            return path, lock
        if lock is not None:
            os.close(lock)
