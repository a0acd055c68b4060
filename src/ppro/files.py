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
SMALL = 400
"""Characters of an object that takes one line of a readable file."""
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


def write_text(path: Path, text: str) -> None:
    """Write a text file that is whole or not there."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def readable_json(value: Any) -> str:
    """Return JSON whose differences can be read: an array, or a small object, takes one line."""
    return _lines(_finite(value), "") + "\n"


def _lines(value: Any, indent: str) -> str:
    line = json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list) or not value:
        return line
    inside = value if isinstance(value, list) else value.values()
    is_flat = not any(isinstance(part, dict | list) for part in inside)
    if is_flat and (isinstance(value, list) or len(line) <= SMALL):
        return line
    deeper = indent + " "
    if isinstance(value, list):
        parts = [_lines(part, deeper) for part in value]
    else:
        parts = [f"{json.dumps(key)}: {_lines(part, deeper)}" for key, part in value.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    return f"{first}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{last}"


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
