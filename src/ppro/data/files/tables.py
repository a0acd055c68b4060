"""Tables from CSV and Parquet files, read by Apache Arrow and handed on as pandas frames."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ppro.data.files.guard import check_file, check_size
from ppro.errors import DataError

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that stand for a missing value; an id is missing only where its cell is empty."""

DELIMITERS = ",;\t"
CELL_BYTES = 8


def read_table(path: Path, text: Collection[str] = ()) -> Any:
    """Read a table into a pandas frame; numbers, truth values and text are told apart by Arrow.

    Args:
        text: columns to take as text whatever they look like: ids, labels.
    """
    check_file(path)
    return _reader(path)(path, text)


def column_names(path: Path) -> list[str]:
    """Return the names of a table's columns."""
    check_file(path)
    names = _csv_header(path) if is_csv(path) else list(_parquet_file(path).schema_arrow.names)
    check_names(path, names)
    return names


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse columns without a name, with another's, or with one that would garble a message."""
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path}: column {position} has no name; add a header row")
        if not name.isprintable():
            raise DataError(f"{path}: column {position} is named {name!r}; use plain characters")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are named {twice!r}; rename one of them")


def arrow(part: str) -> Any:
    """Return a module of Apache Arrow, or the advice to install it."""
    try:
        return import_module(part)
    except ModuleNotFoundError:
        raise DataError(
            "reading tables needs pandas and pyarrow; install them with: pip install 'ppro[tables]'"
        ) from None


def is_csv(path: Path) -> bool:
    """Tell whether the name of a file says that it is a CSV table."""
    return path.suffix.lower() in (".csv", ".tsv", ".txt")


def is_table(path: Path) -> bool:
    """Tell whether the name of a file says that it is a table."""
    return is_csv(path) or path.suffix.lower() in (".parquet", ".pq")


def _reader(path: Path) -> Callable[[Path, Collection[str]], Any]:
    if is_csv(path):
        return _read_csv
    if is_table(path):
        return _read_parquet
    raise DataError(f"{path}: unknown kind of table; save it as .csv, .tsv or .parquet")


def _read_csv(path: Path, text: Collection[str]) -> Any:
    reader, types = arrow("pyarrow.csv"), arrow("pyarrow")
    names, bad_rows = column_names(path), list[Any]()

    def remember(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    try:
        table = reader.read_csv(
            path,
            # One thread: only then does Arrow know the number of a broken row.
            reader.ReadOptions(use_threads=False),
            reader.ParseOptions(
                delimiter=_delimiter(path), newlines_in_values=True, invalid_row_handler=remember
            ),
            reader.ConvertOptions(
                column_types={name: types.string() for name in names if name in text},
                null_values=list(MISSING),
                strings_can_be_null=False,
            ),
        )
    except types.ArrowInvalid as error:
        _check_utf8(path)
        raise _csv_error(path, bad_rows, error) from None
    if any(types.types.is_binary(kind) for kind in table.schema.types):
        _check_utf8(path)
    return _frame(path, table)


def _csv_error(path: Path, bad_rows: Sequence[Any], error: Exception) -> DataError:
    if bad_rows:
        row = bad_rows[0]
        return DataError(
            f"{path}, row {row.number - 1}: {row.actual_columns} cells for the "
            f"{row.expected_columns} columns of the header; complete or quote the row"
        )
    reason = str(error).splitlines()[0]
    return DataError(f"{path}: not a CSV table ({reason}); export it again as UTF-8 CSV")


def _csv_header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=_delimiter(path)), [])
    except (UnicodeDecodeError, csv.Error) as error:
        _check_utf8(path)
        raise DataError(f"{path}: not a CSV table ({error}); export it again as CSV") from None
    if not names or any("\0" in name for name in names):
        raise DataError(f"{path}: no header row with column names; export it again as UTF-8 CSV")
    return names


def _delimiter(path: Path) -> str:
    """Return the character that the header uses most; a comma where it has one column."""
    with path.open("rb") as file:
        header = file.readline(2**20).decode("utf-8", errors="replace")
    return max(DELIMITERS, key=header.count)


def _check_utf8(path: Path) -> None:
    with path.open("rb") as file:
        for number, line in enumerate(file):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                where = f"row {number}" if number else "the header"
                raise DataError(
                    f"{path}, {where}: byte {line[error.start]:#x} is not UTF-8 text; save the "
                    "file in the encoding UTF-8"
                ) from None


def _parquet_file(path: Path) -> Any:
    parquet, types = arrow("pyarrow.parquet"), arrow("pyarrow")
    try:
        file = parquet.ParquetFile(path)
        list(file.schema_arrow.names)
    except (types.ArrowException, OSError, ValueError) as error:
        raise _parquet_error(path, error) from None
    return file


def _parquet_error(path: Path, error: Exception) -> DataError:
    reason = str(error).splitlines()[0].rstrip(".")
    return DataError(f"{path}: not a readable Parquet file ({reason}); write it again")


def _read_parquet(path: Path, text: Collection[str]) -> Any:
    types = arrow("pyarrow")
    column_names(path)
    file = _parquet_file(path)
    # A few bytes of Parquet can stand for any number of equal cells.
    cells = file.metadata.num_rows * file.metadata.num_columns
    groups = range(file.metadata.num_row_groups)
    unpacked = sum(file.metadata.row_group(k).total_byte_size for k in groups)
    check_size(path, max(unpacked, cells * CELL_BYTES))
    try:
        table = file.read()
        _check_types(path, table.schema)
        return with_text(_frame(path, table), text)
    except (types.ArrowException, OSError, ValueError) as error:
        raise _parquet_error(path, error) from None


def _check_types(path: Path, schema: Any) -> None:
    types = arrow("pyarrow").types
    for field in schema:
        if types.is_nested(field.type) or types.is_binary(field.type):
            raise DataError(
                f"{path}, column {field.name}: cells of type {field.type}; write numbers or text, "
                "one column for each number of a vector"
            )


def _frame(path: Path, table: Any) -> Any:
    arrow("pandas")
    if table.num_rows == 0:
        raise DataError(f"{path}: a header and no rows; add one row per node or edge")
    return table.to_pandas(ignore_metadata=True)


def with_text(frame: Any, names: Collection[str]) -> Any:
    """Return the frame with some columns as text, where it has them."""
    return frame.assign(**{name: _as_text(frame[name]) for name in names if name in frame.columns})


def _as_text(column: Any) -> Any:
    """Return cells as text, whole numbers without a decimal point and missing ones empty."""
    pd = arrow("pandas")
    missing = column.isna()
    whole = pd.api.types.is_float_dtype(column) and bool((column[~missing] % 1 == 0).all())
    shown = [
        "" if gone else str(int(value) if whole else value)
        for value, gone in zip(column, missing, strict=True)
    ]
    return pd.Series(shown, index=column.index, name=column.name, dtype=object)
