"""Tables from CSV and Parquet files, read by Apache Arrow and handed on as pandas frames."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from ppro.data.files.csv_tables import check_utf8, csv_header, is_packed, read_csv
from ppro.data.files.guard import check_file, check_unpacked
from ppro.errors import DataError

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that stand for a missing value; an id is missing only where its cell is empty."""

CELL_BYTES, TEXT_BYTES = 8, 64
"""What a number and a text take in memory, a text at least."""
MAX_COLUMNS = 50_000


class Table(Protocol):
    """A table of a user, whose columns are known before it is read.

    Attributes:
        path: the file, or what messages call the table.
    """

    @property
    def path(self) -> Path: ...  # noqa: D102

    def columns(self) -> list[str]:
        """Return the names of the columns, as they are written."""

    def read(self, text: Collection[str], names: Sequence[str] | None = None) -> Any:
        """Return a pandas frame.

        Args:
            text: columns to take as text whatever they look like: ids, labels.
            names: of the columns, where the table has no header.
        """

    @property
    def may_lack_header(self) -> bool:
        """Whether what is taken for names may be the first row."""


@dataclass(frozen=True)
class FileTable:
    """A table in a CSV or Parquet file."""

    path: Path

    def columns(self) -> list[str]:
        """Return the names of the columns, as they are written."""
        check_file(self.path)
        return _names(self.path)

    def read(self, text: Collection[str], names: Sequence[str] | None = None) -> Any:
        """Return a pandas frame; numbers, truth values and text are told apart by Arrow."""
        check_file(self.path)
        if is_csv(self.path):
            return _read_csv(self.path, text, names)
        _check_kind(self.path)
        return with_text(_read_parquet(self.path, text), text)

    @property
    def may_lack_header(self) -> bool:
        """Whether what is taken for names may be the first row."""
        return is_csv(self.path)


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A table in a pandas frame.

    Args:
        path: what messages call it.
    """

    path: Path
    frame: Any
    may_lack_header: bool = False

    def columns(self) -> list[str]:
        """Return the names of the columns; an index with a name is one."""
        return [str(name) for name in self._flat().columns]

    def read(self, text: Collection[str], names: Sequence[str] | None = None) -> Any:
        """Return a copy without pandas' own types of missing cells."""
        pd = arrow("pandas")
        flat = self._flat()
        flat.columns = self.columns()
        for name in flat.columns:
            if pd.api.types.is_extension_array_dtype(flat[name]):
                column = flat[name].astype(object)
                flat[name] = column.where(column.notna(), None).infer_objects()
        return with_text(flat, text)

    def _flat(self) -> Any:
        named = all(name is not None for name in self.frame.index.names)
        return self.frame.reset_index(drop=not named)


def read_table(path: Path, text: Collection[str] = ()) -> Any:
    """Read a table in a file into a pandas frame that has rows.

    Args:
        text: columns to take as text whatever they look like: ids, labels.
    """
    column_names(path)
    frame = FileTable(path).read(text)
    check_rows(path, frame)
    return frame


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table in a file, checked."""
    names = FileTable(path).columns()
    check_names(path, names)
    return names


def _names(path: Path) -> list[str]:
    _check_kind(path)
    return csv_header(path) if is_csv(path) else list(_parquet_file(path).schema_arrow.names)


def check_rows(path: Path, frame: Any) -> None:
    """Refuse a table without a row."""
    if len(frame) == 0:
        raise DataError(f"{path}: a header and no rows; add one row per node or edge")


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse columns without a name, with another's, or with one that would garble a message."""
    if len(names) > MAX_COLUMNS:
        raise DataError(
            f"{path}: {len(names):,} columns, and PPro reads {MAX_COLUMNS:,}; save features as "
            "arrays in an .npz file"
        )
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path}: column {position} has no name; add a header row")
        if not name.isprintable():
            raise DataError(f"{path}: column {position} is named {name!r}; use plain characters")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
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
    """Tell whether the name of a file says that it is a CSV table, packed or not."""
    plain = path.with_suffix("") if is_packed(path) else path
    return plain.suffix.lower() in (".csv", ".tsv", ".txt")


def is_table(path: Path) -> bool:
    """Tell whether the name of a file says that it is a table."""
    return is_csv(path) or path.suffix.lower() in (".parquet", ".pq")


def _check_kind(path: Path) -> None:
    if not is_table(path):
        raise DataError(
            f"{path}: unknown kind of table; save it as .csv, .tsv, .csv.gz or .parquet"
        )


def _read_csv(path: Path, text: Collection[str], names: Sequence[str] | None) -> Any:
    types = arrow("pyarrow")
    table = read_csv(path, text, MISSING, names)
    if any(types.types.is_binary(kind) for kind in table.schema.types):
        check_utf8(path)
    return _frame(table)


def _parquet_file(path: Path, words: Sequence[str] = ()) -> Any:
    """Open a Parquet file.

    Args:
        words: columns whose equal texts are kept once.
    """
    parquet, types = arrow("pyarrow.parquet"), arrow("pyarrow")
    try:
        file = parquet.ParquetFile(path, read_dictionary=list(words))
        list(file.schema_arrow.names)
    except (types.ArrowException, OSError, ValueError) as error:
        raise _parquet_error(path, error) from None
    return file


def _parquet_error(path: Path, error: Exception) -> DataError:
    reason = str(error).splitlines()[0].rstrip(".")
    return DataError(f"{path}: not a readable Parquet file ({reason}); write it again")


def _read_parquet(path: Path, text: Collection[str]) -> Any:
    """Return a Parquet file as a frame, its columns of text as they are written."""
    types = arrow("pyarrow")
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
        return _frame(_decoded(table, text))
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
    types = arrow("pyarrow").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _text_bytes(column: Any) -> int:
    """Return the bytes of all texts of a column, each as often as it comes."""
    if not arrow("pyarrow").types.is_dictionary(column.type):
        return 0
    compute, total = arrow("pyarrow.compute"), 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary)
        total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return int(total)


def _decoded(table: Any, text: Collection[str]) -> Any:
    """Return a table of plain columns; those to be taken as text are, before numbers are floats."""
    pa = arrow("pyarrow")
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if name in text and pa.types.is_integer(column.type):
            column = column.cast(pa.string())
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def _check_types(path: Path, schema: Any) -> None:
    types = arrow("pyarrow").types
    for field in schema:
        if types.is_nested(field.type) or types.is_binary(field.type):
            raise DataError(
                f"{path}, column {field.name}: cells of type {field.type}; write numbers or text, "
                "one column for each number of a vector"
            )


def _frame(table: Any) -> Any:
    arrow("pandas")
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
