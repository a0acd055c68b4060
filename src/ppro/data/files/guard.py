"""Checks of a user's file before it is read: that it is there, and not too large."""

import hashlib
import os
from pathlib import Path

from ppro.errors import DataError

MAX_BYTES = 8 * 2**30
"""The largest file, and the most an archive may unpack to, on a machine of any size."""


ALLOWANCE, FACTOR = 512 * 2**20, 10
"""What a file may unpack to: so many bytes in any case, else so many times its own."""


def check_file(path: Path) -> None:
    """Refuse what cannot be a file with a graph."""
    try:
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name the file inside it")
        size = path.stat().st_size
        if not path.is_file():
            raise DataError(f"{path}: not a regular file; save the graph to a file first")
        with path.open("rb"):
            pass
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; check the path and its permissions") from None
    if size == 0:
        raise DataError(f"{path}: the file is empty; write it again")
    check_size(path, size)


def check_size(path: Path, size: int) -> None:
    """Refuse a file, or the unpacked content of one, that is out of proportion."""
    most = min(MAX_BYTES, _memory() // 2)
    if size > most:
        raise DataError(
            f"{path}: {size:,} bytes, and PPro reads at most {most:,} on this machine; check that "
            "the file is what you think it is"
        )


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a file that stands for much more than it holds.

    Args:
        size: bytes that its content takes in memory.
    """
    check_size(path, size)
    try:
        held = path.stat().st_size
    except OSError:
        # A table in memory, which has a name alone.
        return
    if size > max(ALLOWANCE, FACTOR * held):
        raise DataError(
            f"{path}: {held:,} bytes that stand for {size:,} in memory, more than {FACTOR} times "
            "as many; keep fewer columns or rows, or write them without packing"
        )


def _memory() -> int:
    """Return bytes of memory in this machine; a usual number where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return MAX_BYTES


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
