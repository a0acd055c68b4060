"""Cells of a column: missing ones, texts, numbers, and numbers that are written with a comma."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.data.files.tables import MISSING, arrow
from ppro.errors import DataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NUMBERS = {"floating", "integer", "mixed-integer-float", "boolean", "decimal"}
_NUMERIC = "biuf"
"""Kinds of NumPy's types whose columns hold numbers and nothing else."""
_LARGEST = float(np.finfo(np.float32).max)
_MOSTLY = 0.9
_SEVERAL = (list, tuple, dict, set, np.ndarray)
_WITH_COMMA = r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?"
_WHOLE = r"[+-]?\d+(?:[eE][+-]?\d+)?"
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})+"
_SHOWN = 3


def kind_of(column: Any) -> str:
    """What a column holds: ``numbers``, ``text``, ``nothing`` or the name of another type."""
    inferred = arrow("pandas").api.types.infer_dtype(column, skipna=True)
    if inferred == "empty" or bool(is_missing(column).all()):
        return "nothing"
    if inferred in _NUMBERS:
        return "numbers"
    # A frame or a Parquet file may hold a list in a cell, such as the embedding of a text.
    if inferred == "mixed" and any(isinstance(cell, _SEVERAL) for cell in column):
        return "list"
    return "text" if inferred in ("string", "categorical", "mixed") else str(inferred)


def is_missing(column: Any) -> Bools:
    """Return which cells hold no value. Shape ``[n]``."""
    if column.dtype.kind in _NUMERIC:
        return np.asarray(column.isna(), dtype=np.bool_)
    is_text = arrow("pandas").api.types.is_string_dtype(column)
    plain = column.str.strip() if is_text else column
    return np.asarray(column.isna() | plain.isin(MISSING), dtype=np.bool_)


def texts(column: Any) -> list[str]:
    """Return the cells as text, without spaces around it; missing ones are empty."""
    # Columns of Arrow hand out their cells one by one much more slowly than an array does.
    cells = column.to_numpy(dtype=object)
    return ["" if value is None or value != value else str(value).strip() for value in cells]


def known_texts(column: Any) -> list[str]:
    """Return the cells as text; those that are missing are empty, whatever stands there."""
    found = zip(texts(column), is_missing(column), strict=True)
    return ["" if gone else text for text, gone in found]


def numbers(path: Path, column: Any) -> Floats:
    """Return the cells as finite numbers, NaN where missing. Shape ``[n]``."""
    missing = is_missing(column)
    values = _parsed(column)
    values[missing] = np.nan
    for wrong, what in (
        (np.isnan(values) & ~missing, "is not a number"),
        (np.abs(np.nan_to_num(values, posinf=np.inf)) > _LARGEST, "is infinite or too large"),
    ):
        refuse_cells(path, column, wrong, f"{{!r}} {what}; correct the cell or leave it empty")
    return values


def refuse_cells(path: Path, column: Any, wrong: Bools, told: str) -> None:
    """Raise a DataError about the first cell that is wrong.

    Args:
        wrong: Shape ``[n]``.
        told: what to say; braces stand for the text of the cell.
    """
    if wrong.any():
        row = int(wrong.argmax())
        where = f"{path}, row {row + 1}, column {column.name}"
        raise DataError(f"{where}: {told.format(str(column.iloc[row]))}")


def mostly_numbers(column: Any) -> bool:
    """Tell whether a column of text reads like numbers with a few wrong cells among them."""
    known = ~is_missing(column)
    parsed = ~np.isnan(_parsed(column))
    return bool(parsed[known].mean() >= _MOSTLY)


def _parsed(column: Any) -> Floats:
    if column.dtype.kind in _NUMERIC:
        return np.array(column.to_numpy(), dtype=np.float64)
    found = arrow("pandas").to_numeric(column.astype(object), errors="coerce")
    return np.array(found, dtype=np.float64)


def with_decimal_points(path: Path, frame: Any, text: Collection[str]) -> tuple[Any, list[str]]:
    """Return a frame whose numbers with a decimal comma are numbers, and a note on them.

    A comma before three digits may as well part thousands: where no cell of the whole table tells
    which it is, such columns stay text.

    Args:
        text: columns that are text whatever they look like: ids, labels.
    """
    columns = [name for name in frame.columns if name not in text and _has_commas(frame[name])]
    if not columns:
        return frame, []
    named = ", ".join(columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
    which = f"{path}, {'column' if len(columns) == 1 else f'{len(columns):,} columns'} ({named})"
    if all(_may_part_thousands(frame[name]) for name in columns):
        told = "commas in numbers may be decimal or part thousands, so these are taken as text"
        return frame, [f"{which}: {told}; write the numbers with a point, or without commas"]
    changed = {name: _with_points(frame[name]) for name in columns}
    return frame.assign(**changed), [f"{which}: decimal commas, read as numbers"]


def _has_commas(column: Any) -> bool:
    """Tell whether the cells are numbers, some of them with a comma."""
    if not arrow("pandas").api.types.is_string_dtype(column):
        return False
    known = _stripped(column)
    if not known.str.contains(",", regex=False).any():
        return False
    commas = known.str.fullmatch(_WITH_COMMA) | known.str.fullmatch(_THOUSANDS)
    return bool(commas.any() and (commas | known.str.fullmatch(_WHOLE)).mean() >= _MOSTLY)


def _may_part_thousands(column: Any) -> bool:
    known = _stripped(column)
    with_comma = known[known.str.contains(",", regex=False)]
    return bool(with_comma.str.fullmatch(_THOUSANDS).all())


def _with_points(column: Any) -> Any:
    """Return a column of numbers; of text where some cells are none, for a later message."""
    pd = arrow("pandas")
    cells = column.astype(str).str.strip()
    pointed = column.where(~cells.str.fullmatch(_WITH_COMMA), cells.str.replace(",", "."))
    missing = is_missing(column)
    values = pd.to_numeric(pointed.mask(missing, None), errors="coerce")
    return pointed if bool((values.isna() & ~missing).any()) else values


def _stripped(column: Any) -> Any:
    return column[~is_missing(column)].astype(str).str.strip()
