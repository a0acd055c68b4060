"""Cells of a table column as text, as numbers, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.data.files.tables import MISSING, arrow
from ppro.errors import DataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NUMBERS = {"floating", "integer", "mixed-integer-float", "boolean", "decimal"}
_LARGEST = float(np.finfo(np.float32).max)
_MOSTLY = 0.9


def kind_of(column: Any) -> str:
    """What a column holds: ``numbers``, ``text``, ``nothing`` or the name of another type."""
    inferred = arrow("pandas").api.types.infer_dtype(column, skipna=True)
    if inferred == "empty" or bool(is_missing(column).all()):
        return "nothing"
    if inferred in _NUMBERS:
        return "numbers"
    return "text" if inferred in ("string", "categorical", "mixed") else str(inferred)


def is_missing(column: Any) -> Bools:
    """Which cells hold no value. Shape ``[n]``."""
    return np.asarray(column.isna() | column.isin(MISSING), dtype=np.bool_)


def texts(column: Any) -> list[str]:
    """The cells as text, without spaces around it; missing ones are empty."""
    return ["" if value is None or value != value else str(value).strip() for value in column]


def numbers(path: Path, column: Any) -> Floats:
    """The cells as finite numbers, NaN where missing. Shape ``[n]``.

    Raises:
        DataError: a cell is no number, infinite, or too large for single precision.
    """
    missing = is_missing(column)
    values = _parsed(column)
    values[missing] = np.nan
    for wrong, what in (
        (np.isnan(values) & ~missing, "is not a number"),
        (np.abs(np.nan_to_num(values, posinf=np.inf)) > _LARGEST, "is infinite or too large"),
    ):
        if wrong.any():
            row = int(wrong.argmax())
            raise DataError(
                f"{path}, row {row + 1}, column {column.name}: {str(column.iloc[row])!r} {what}; "
                "correct the cell or leave it empty"
            )
    return values


def mostly_numbers(column: Any) -> bool:
    """Whether a column of text reads like numbers with a few wrong cells among them."""
    known = ~is_missing(column)
    parsed = ~np.isnan(_parsed(column))
    return bool(parsed[known].mean() >= _MOSTLY)


def _parsed(column: Any) -> Floats:
    found = arrow("pandas").to_numeric(column.astype(object), errors="coerce")
    return np.array(found, dtype=np.float64)
