"""Tables from CSV and Parquet files, read by Apache Arrow and handed on as pandas frames."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from ppro.data.files.csv_tables import INDEX, check_utf8, csv_header, is_packed, read_csv
from ppro.data.files.guard import check_file
from ppro.data.files.parquet_tables import parquet_names, read_parquet
from ppro.errors import DataError

MISSING = ("", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL")
"""Cells that stand for a missing value; an id is missing only where its cell is empty."""

MAX_COLUMNS = 50_000
KEPT_INDEX = "__index_level_0__"
"""What pandas calls an index without a name in a Parquet file."""
INDEX_COLUMNS = (INDEX, KEPT_INDEX)
"""Columns that nobody named: the index of a pandas frame. They may hold ids, but no feature."""


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
        arrow("pyarrow.parquet")
        return with_text(_frame(read_parquet(self.path, text)), text)

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
        """Return the names of the columns; an index that does not merely count is one."""
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
        index = self.frame.index
        if all(name is not None for name in index.names):
            return self.frame.reset_index()
        if index.nlevels > 1 or list(index) == list(range(len(index))):
            return self.frame.reset_index(drop=True)
        return self.frame.reset_index(names=KEPT_INDEX)


def _names(path: Path) -> list[str]:
    _check_kind(path)
    if is_csv(path):
        return csv_header(path)
    arrow("pyarrow.parquet")
    return parquet_names(path)


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


def usual_column(usual: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the first column of a usual name; names of more than a letter in any case."""
    lower = {name.lower(): name for name in reversed(columns) if len(name) > 1}
    found = (name if name in columns else lower.get(name) for name in usual)
    return next((name for name in found if name is not None), None)


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
