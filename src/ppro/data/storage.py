"""Folders that hold raw files, and the hash that every raw file must have."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from ppro.data.records import RawFile
from ppro.errors import DataError
from ppro.files import whole_file


class Unavailable(Exception):  # noqa: N818
    """A source cannot supply the files; its text says why, and the next source is tried."""


def data_folder(data_root: Path | None) -> Path | None:
    """Return the user's data folder: the argument, else ``PPRO_DATA``, else None."""
    setting = data_root if data_root is not None else os.environ.get("PPRO_DATA")
    if not setting:
        return None
    folder = Path(setting)
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        origin = "PPRO_DATA" if data_root is None else "the data folder setting"
        raise DataError(
            f"{origin} names {folder}, which is not a readable folder; correct it or leave it out"
        )
    return folder


def cache_folder() -> Path:
    """Return where fetched files are kept: ``PPRO_CACHE``, else the user's cache folder."""
    setting = os.environ.get("PPRO_CACHE")
    if setting:
        return Path(setting)
    import pooch

    return Path(pooch.os_cache("ppro"))


def held_files(root: Path, files: Sequence[RawFile]) -> dict[str, Path]:
    """Return the paths of ``files`` below ``root`` by key, their hashes checked where known."""
    missing = [file.path for file in files if not (root / file.path).is_file()]
    if missing:
        more = f" and {len(missing) - 2} more" if len(missing) > 2 else ""
        raise Unavailable(f"no {', '.join(missing[:2])}{more}")
    for file in files:
        if file.sha256 is not None:
            check_content(root / file.path, file.sha256)
    return {file.key: root / file.path for file in files}


def check_content(path: Path, expected: str) -> None:
    """Compare a file's sha256 with the expected one."""
    try:
        with path.open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; make it readable or delete it") from error
    if actual != expected:
        raise DataError(
            f"{path}: sha256 {actual[:12]}... instead of {expected[:12]}...; the file is "
            "corrupted: delete it or replace it by the original"
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it under its name."""
    with whole_file(path) as part:
        part.write_bytes(content)
