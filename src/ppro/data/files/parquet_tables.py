"""Parquet tables, read by Apache Arrow and never unpacked to more than their size justifies."""

from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ppro.data.files.guard import check_unpacked
from ppro.errors import DataError

CELL_BYTES, TEXT_BYTES = 8, 64
"""What a number and a text take in memory, a text at least."""


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns."""
    return list(_parquet_file(path).schema_arrow.names)


def _parquet_file(path: Path, words: Sequence[str] = ()) -> Any:
    """Open a Parquet file.

    Args:
        words: columns whose equal texts are kept once.
    """
    parquet, types = import_module("pyarrow.parquet"), import_module("pyarrow")
    try:
        file = parquet.ParquetFile(path, read_dictionary=list(words))
        list(file.schema_arrow.names)
    except (types.ArrowException, OSError, ValueError) as error:
        raise _parquet_error(path, error) from None
    return file


def _parquet_error(path: Path, error: Exception) -> DataError:
    reason = str(error).splitlines()[0].rstrip(".")
    return DataError(f"{path}: not a readable Parquet file ({reason}); write it again")


def read_parquet(path: Path, text: Collection[str]) -> Any:
    """Return a Parquet file as a table of Arrow.

    Args:
        text: columns to take as text, whole numbers as they are written.
    """
    types = import_module("pyarrow")
    schema = _parquet_file(path).schema_arrow
    _check_types(path, schema)
    words = [field.name for field in schema if _is_text(field.type)]
    # Equal texts are stored once; they stay so until it is known what all of them take.
    file = _parquet_file(path, words)
    _check_unpacked(path, file.metadata, len(words))
    try:
        table = file.read()
        table.validate(full=True)
        check_unpacked(path, sum(map(_text_bytes, table.columns)))
        return _decoded(table, text)
    except (types.ArrowException, OSError, ValueError) as error:
        raise _parquet_error(path, error) from None


def _check_unpacked(path: Path, facts: Any, words: int) -> None:
    """Refuse a few bytes of Parquet that stand for any number of equal cells."""
    rows, columns = facts.num_rows, facts.num_columns
    cells = rows * (words * TEXT_BYTES + (columns - words) * CELL_BYTES)
    groups = range(facts.num_row_groups)
    stored = sum(facts.row_group(k).total_byte_size for k in groups)
    check_unpacked(path, max(stored, cells))


def _is_text(kind: Any) -> bool:
    types = import_module("pyarrow").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _text_bytes(column: Any) -> int:
    """Return the bytes of all texts of a column, each as often as it comes."""
    if not import_module("pyarrow").types.is_dictionary(column.type):
        return 0
    compute, total = import_module("pyarrow.compute"), 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary)
        total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return int(total)


def _decoded(table: Any, text: Collection[str]) -> Any:
    """Return a table of plain columns; those to be taken as text are, before numbers are floats."""
    pa = import_module("pyarrow")
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if name in text and pa.types.is_integer(column.type):
            column = column.cast(pa.string())
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def _check_types(path: Path, schema: Any) -> None:
    types = import_module("pyarrow").types
    for field in schema:
        if types.is_nested(field.type) or types.is_binary(field.type):
            raise DataError(
                f"{path}, column {field.name}: cells of type {field.type}; write numbers or text, "
                "one column for each number of a vector"
            )
