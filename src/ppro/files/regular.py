"""Reading regular files alone: a pipe would be waited for without end, a device has none."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

TEXT_BYTES = 256 * 2**20
"""Bytes of a text that is read as a whole: settings, records, schemas."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to read its bytes.

    Raises:
        OSError: there is none, it cannot be read, or it is something else.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_regular(path: Path) -> None:
    """Refuse what is no regular file, before a library opens it.

    Raises:
        OSError: there is none, it cannot be read, or it is something else.
    """
    open_regular(path).close()


def read_text(path: Path, most: int = TEXT_BYTES) -> str:
    """Return the text of a regular file.

    Raises:
        OSError: it is missing, something else, or larger than ``most`` bytes.
        UnicodeDecodeError: it is no UTF-8.
    """
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most // 2**20} MiB", str(path))
    return content.decode("utf-8")
