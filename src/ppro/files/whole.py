"""Files and folders that are whole or not there, even after a power failure."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ppro.files.names import MARKER
from ppro.files.staging import flush, flush_one, staged

_STREAMS = (Path("/dev"), Path("/proc"))
_MEMORY = Path("/dev/shm")


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A temporary folder that becomes ``out`` when the block ends well, and vanishes when not.

    A folder that exists may be a mount point, which cannot be replaced: it is filled instead,
    and ``settings.toml``, by which a run folder is known, comes last. A run that stands there is
    known no more from the moment on that its first file is replaced.
    """
    out = out.absolute()
    exists = out.is_dir()
    home = out if exists else out.parent
    made = make_folders(home)
    try:
        with staged(home, folder=True) as staging:
            yield staging
            flush(staging)
            if exists:
                (out / MARKER).unlink(missing_ok=True)
                for file in sorted(staging.iterdir(), key=lambda file: file.name == MARKER):
                    if file.name == MARKER:
                        flush_one(out)
                    os.replace(file, out / file.name)
            else:
                staging.chmod(0o777 & ~umask())
                os.replace(staging, out)
            flush_one(home)
    except BaseException:
        remove_empty(made)
        raise


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file that becomes ``path`` when the block ends well, and vanishes when not.

    A device or a pipe that stands there is never replaced: the content is written into it. Of a
    link, the file that it names is replaced.
    """
    path = path.absolute()
    if _is_stream(path):
        with _into_stream(path) as part:
            yield part
        return
    if path.is_symlink():
        path = path.resolve()
    made = make_folders(path.parent)
    try:
        with staged(path.parent, folder=False) as part:
            yield part
            os.chmod(part, 0o666 & ~umask())
            flush_one(part)
            os.replace(part, path)
            flush_one(path.parent)
    except BaseException:
        remove_empty(made)
        raise


def _is_stream(path: Path) -> bool:
    """Tell whether something stands there that can be written to, but is not ours to replace.

    Raises:
        OSError: it can be neither written to nor replaced.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, "neither a file nor a stream", str(path))
    # What a stream of this process leads to may be a file that others hold open.
    special = not path.is_relative_to(_MEMORY) and any(map(path.is_relative_to, _STREAMS))
    return not stat.S_ISDIR(mode) and (special or not stat.S_ISREG(mode))


@contextmanager
def _into_stream(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ppro-") as folder:
        part = Path(folder) / "part"
        part.touch()
        yield part
        # Without waiting: a pipe that nobody reads would be waited for without end.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
        os.set_blocking(handle, True)
        with os.fdopen(handle, "wb", buffering=0) as stream, part.open("rb") as content:
            shutil.copyfileobj(content, stream)


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and what is missing above it; returns those made, the deepest first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders that :func:`make_folders` made, as far as they are empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def umask() -> int:
    """Return the permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a text file that is whole or not there."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
