"""Names of files and folders: free ones, taken ones, and what is a name at all."""

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

MARKER = "settings.toml"
"""The file by which a run folder is known; it is written last."""
HIDDEN = ".ppro-"
"""How the names of temporary files and folders begin."""
LONGEST = 200
"""Bytes of a name; file systems allow 255, and endings are put behind it."""


def is_name(text: str) -> bool:
    """Tell whether a text names a file in a folder, and cannot lead out of it."""
    if text.strip(" .") == "" or re.search(r"[/\\\x00-\x1f\x7f]", text):
        return False
    return len(text.encode(errors="surrogatepass")) <= LONGEST


def as_name(text: str) -> str:
    """Return the text as a name: what cannot stand in one becomes an underscore."""
    kept = re.sub(r"[/\\\x00-\x1f\x7f\ud800-\udfff]", "_", text)
    kept = kept.encode()[:LONGEST].decode(errors="ignore")
    return kept if is_name(kept) else f"_{kept}_"[:LONGEST]


def is_taken(out: Path) -> bool:
    """Tell whether something stands where a run folder is to be; an empty folder does not count."""
    if not out.is_dir():
        return os.path.lexists(out)
    # The checkpoint of the very run may lie inside.
    return any(not file.name.startswith(HIDDEN) for file in out.iterdir())


def free_name(parent: Path, stem: str) -> Path:
    """Return the first of stem, stem-2, stem-3 … that is free in a folder."""
    return next(path for path in numbered(parent / stem) if not os.path.lexists(path))


def numbered(path: Path) -> Iterator[Path]:
    """Yield the path itself, then with -2, -3 … behind its name, without end."""
    yield path
    yield from (path.with_name(f"{path.name}-{number}") for number in count(2))
