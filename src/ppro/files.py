"""Files that are whole or not there, and JSON that every reader takes."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

MARKER = "settings.toml"
"""The file by which a run folder is known; it is written last."""
HIDDEN = ".ppro-"
"""How the names of temporary files and folders begin."""


def is_taken(out: Path) -> bool:
    """Whether something stands where a run folder is to be; an empty folder does not count."""
    if not out.is_dir():
        return os.path.lexists(out)
    # The checkpoint of the very run may lie inside.
    return any(not file.name.startswith(HIDDEN) for file in out.iterdir())


def free_name(parent: Path, stem: str) -> Path:
    """The first of stem, stem-2, stem-3 … that is free in a folder."""
    return next(path for path in numbered(parent / stem) if not os.path.lexists(path))


def numbered(path: Path) -> Iterator[Path]:
    """The path itself, then with -2, -3 … behind its name, without end."""
    yield path
    yield from (path.with_name(f"{path.name}-{number}") for number in count(2))


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A temporary folder that becomes ``out`` when the block ends well, and vanishes when not.

    A folder that exists may be a mount point, which cannot be replaced: it is filled instead,
    and ``settings.toml``, by which a run folder is known, comes last.
    """
    out = out.absolute()
    exists = out.is_dir()
    home = out if exists else out.parent
    made = make_folders(home)
    staging = Path(tempfile.mkdtemp(dir=home, prefix=HIDDEN))
    try:
        yield staging
        if exists:
            for file in sorted(staging.iterdir(), key=lambda file: file.name == MARKER):
                os.replace(file, out / file.name)
        else:
            staging.chmod(0o777 & ~umask())
            os.replace(staging, out)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        remove_empty(made)
        raise
    shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file that becomes ``path`` when the block ends well, and vanishes when not."""
    path = path.absolute()
    made = make_folders(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=HIDDEN)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        remove_empty(made)
        raise


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


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON without NaN, which other readers refuse: it becomes null."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value
