"""Arrays from an npz file, which is a zip archive that anyone may have made.

Nothing is extracted and nothing unpickled: members are read one by one, and the header of each
array is compared with the size of its member before any memory is asked for.
"""

import lzma
import math
import struct
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ppro.data.files.guard import check_file, check_unpacked
from ppro.errors import DataError

MAX_MEMBERS = 100
LONGEST = 200
DAMAGE = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(NotImplementedError, RuntimeError, UnicodeDecodeError, OverflowError, struct.error),
)
"""What the readers of archives say of broken ones."""
KINDS = "biufU"
"""Truth values, whole numbers, floating-point numbers and text."""


def read_npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file by name."""
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(path, members)
            return {m.filename.removesuffix(".npy"): _array(path, archive, m) for m in members}
    except DAMAGE as error:
        reason = " ".join(str(error).split())[:LONGEST]
        raise DataError(f"{path}: not a readable npz file ({reason}); write it again") from None


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_MEMBERS:
        raise DataError(f"{path}: {len(members)} members; a graph has at most {MAX_MEMBERS}")
    check_unpacked(path, sum(member.file_size for member in members))
    names = [member.filename for member in members]
    for member in members:
        name = member.filename
        if not name.endswith(".npy") or not name.removesuffix(".npy").isidentifier():
            raise DataError(f"{path}: member {name!r} is no array of a graph; write it again")
        if names.count(name) > 1:
            raise DataError(f"{path}: array {name.removesuffix('.npy')} is there twice; keep one")
        if member.flag_bits & 1:
            raise DataError(f"{path}: it is encrypted; save it without a password")


def _array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    name = member.filename.removesuffix(".npy")
    try:
        with archive.open(member) as stream:
            _check_header(path, name, stream, member.file_size)
        with archive.open(member) as stream:
            found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
            return found
    except (ValueError, TypeError, SyntaxError, RecursionError, TokenError) as error:
        reason = " ".join(str(error).split())[:LONGEST] or type(error).__name__
        raise DataError(f"{path}: array {name} is damaged ({reason}); write it again") from None


def _check_header(path: Path, name: str, stream: IO[bytes], size: int) -> None:
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the npy format")
    read = np.lib.format.read_array_header_1_0
    if version == (2, 0):
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.kind not in KINDS:
        raise DataError(
            f"{path}: array {name} holds {dtype.name} values; PPro reads numbers, truth values "
            "and text, never objects, so save it with another dtype"
        )
    claimed = math.prod(shape) * dtype.itemsize
    if claimed != size - stream.tell():
        raise DataError(
            f"{path}: array {name} claims {claimed:,} bytes and has {size - stream.tell():,}; "
            "write the file again"
        )
