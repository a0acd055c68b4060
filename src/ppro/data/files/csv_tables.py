"""CSV tables, plain or packed by gzip, read by Apache Arrow."""

import csv
import gzip
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ppro.data.files.guard import check_unpacked
from ppro.errors import DataError

DELIMITERS = ",;\t|"
INDEX = "Unnamed: 0"
"""What pandas calls the first column of a file whose header has no name for it."""
CHUNK = 2**20
"""Bytes of a packed file that are looked at at a time, and the longest header."""
COMMENTS = ("#", "%")
MOST_COMMENTS = 1000
_SEPARATOR = re.compile(r"sep=(.)")
"""What spreadsheets write above the header, to say what separates the columns."""


def is_packed(path: Path) -> bool:
    """Tell whether the name of a file says that it is packed by gzip."""
    return path.suffix.lower() == ".gz"


def read_csv(
    path: Path, text: Collection[str], missing: Sequence[str], names: Sequence[str] | None = None
) -> Any:
    """Return a CSV file as a table of Arrow.

    Args:
        text: columns to take as text whatever they look like.
        missing: cells that stand for no value.
        names: of the columns, where the file has no header.
    """
    reader, types = import_module("pyarrow.csv"), import_module("pyarrow")
    # Before Arrow, which would complain of a broken row of other bytes on its own.
    check_utf8(path)
    written, bad_rows = list(names or _header(path)), list[Any]()
    columns = list(names or csv_header(path))

    def remember(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    try:
        with types.input_stream(str(path), "gzip" if is_packed(path) else None) as stream:
            table = reader.read_csv(
                stream,
                # One thread: only then does Arrow know the number of a broken row.
                reader.ReadOptions(
                    use_threads=False, column_names=list(names or []), skip_rows=len(_before(path))
                ),
                reader.ParseOptions(
                    delimiter=_delimiter(path),
                    newlines_in_values=True,
                    invalid_row_handler=remember,
                ),
                reader.ConvertOptions(
                    column_types={
                        cell: types.string()
                        for cell, name in zip(written, columns, strict=True)
                        if name in text
                    },
                    null_values=list(missing),
                    strings_can_be_null=False,
                ),
            )
        return table.rename_columns(columns)
    except types.ArrowInvalid as error:
        raise _csv_error(path, bad_rows, error, has_header=names is None) from None


def _csv_error(
    path: Path, bad_rows: Sequence[Any], error: Exception, *, has_header: bool
) -> DataError:
    if bad_rows:
        row = bad_rows[0]
        above, first = (1, "header") if has_header else (0, "first row")
        number = row.number - len(_before(path)) - above
        return DataError(
            f"{path}, row {number}: {row.actual_columns} cells for the "
            f"{row.expected_columns} columns of the {first}; complete or quote the row"
        )
    reason = str(error).splitlines()[0]
    return DataError(f"{path}: not a CSV table ({reason}); export it again as UTF-8 CSV")


def csv_header(path: Path) -> list[str]:
    """Return the names of the columns; pandas writes an index without one."""
    first, *others = map(str.strip, _header(path))
    # Some write their header as the last of the comments.
    first = first.lstrip("#").strip() or first
    return [first if first or not others else INDEX, *others]


def _header(path: Path) -> list[str]:
    """Return the cells of the first row."""
    if is_packed(path):
        _check_unpacked(path)
    try:
        with _opened(path) as file:
            lines = (line.decode("utf-8-sig" if first else "utf-8") for first, line in _lines(file))
            rest = islice(lines, len(_before(path)), None)
            names = next(csv.reader(rest, delimiter=_delimiter(path)), [])
    except (UnicodeDecodeError, csv.Error) as error:
        check_utf8(path)
        raise DataError(f"{path}: not a CSV table ({error}); export it again as CSV") from None
    if not names or any("\0" in name for name in names):
        raise DataError(f"{path}: no header row with column names; export it again as UTF-8 CSV")
    return names


def _lines(file: IO[bytes]) -> Any:
    for number, line in enumerate(file):
        yield number == 0, line


def _delimiter(path: Path) -> str:
    """Return the character that the first row uses most; a space where it has no other."""
    before = _before(path)
    if before and (stated := _SEPARATOR.fullmatch(before[0])):
        return stated[1]
    return _delimiter_of(next(islice(_first_lines(path), len(before), None), ""))


def _delimiter_of(line: str) -> str:
    bare = _unquoted(line)
    if not any(sign in bare for sign in DELIMITERS) and " " in bare:
        return " "
    return max(DELIMITERS, key=bare.count)


def _unquoted(line: str) -> str:
    """Return a line without its quoted cells: a sign within them is part of a name."""
    return re.sub(r'"[^"]*"', "", line)


def _before(path: Path) -> list[str]:
    """Return the lines before the header: comments, and what spreadsheets say of separators.

    A comment with as many cells as the row below it is the header itself.
    """
    lines = _comments_and_next(path)
    if lines and _SEPARATOR.fullmatch(lines[0]):
        return lines[:1]
    count = len(lines) - 1
    if count < 1 or lines[-1].startswith(COMMENTS):
        return []
    sign = _delimiter_of(lines[-1])
    above, below = (_unquoted(line).count(sign) for line in lines[-2:])
    return lines[: count - 1 if above == below else count]


def _comments_and_next(path: Path) -> list[str]:
    """Return the lines of a file up to the first that is no comment."""
    found: list[str] = []
    for line in _first_lines(path):
        found.append(line)
        if not line.startswith(COMMENTS) or len(found) > MOST_COMMENTS:
            break
    return found


def _first_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, without what ends them."""
    with _opened(path) as file:
        for line in iter(lambda: file.readline(CHUNK), b""):
            yield line.decode("utf-8-sig", errors="replace").strip()


def check_utf8(path: Path) -> None:
    """Refuse a file that is not UTF-8; the message names the row."""
    with _opened(path) as file:
        for number, line in enumerate(file):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                where = f"row {number}" if number else "the header"
                raise DataError(
                    f"{path}, {where}: byte {line[error.start]:#x} is not UTF-8 text; save the "
                    "file in the encoding UTF-8"
                ) from None


def _check_unpacked(path: Path) -> None:
    """Refuse a packed file that is damaged, empty, or unpacks to more than is bearable."""
    size = 0
    with _opened(path) as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            check_unpacked(path, size)
    if not size:
        raise DataError(f"{path}: the packed file is empty; write it again")


@contextmanager
def _opened(path: Path) -> Any:
    """Open a file for its bytes, unpacked."""
    if not is_packed(path):
        with path.open("rb") as file:
            yield file
        return
    try:
        with gzip.open(path, "rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a readable gzip file ({error}); pack it again") from None
