"""Columns of a table: their cells, which of them are features, and the matrix they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.data.files.schema import CategoricalColumn, Column, Layout, NumericColumn, Schema
from ppro.data.files.tables import MISSING, arrow
from ppro.errors import DataError
from ppro.parts import nearest

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
    """Return which cells hold no value. Shape ``[n]``."""
    return np.asarray(column.isna() | column.isin(MISSING), dtype=np.bool_)


def texts(column: Any) -> list[str]:
    """Return the cells as text, without spaces around it; missing ones are empty."""
    return ["" if value is None or value != value else str(value).strip() for value in column]


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
    found = arrow("pandas").to_numeric(column.astype(object), errors="coerce")
    return np.array(found, dtype=np.float64)


def choose_columns(
    path: Path, frame: Any, layout: Layout, taken: Sequence[str | None]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the feature columns of a table, in its order, and notes on those left out.

    Columns that a user names are all used. Otherwise every column is that holds numbers or, but
    for ``--all-numeric``, at most ``max_categories`` different texts.

    Args:
        taken: columns that are no features: id, label, split.
    """
    for name in (*(layout.features or ()), *layout.categorical):
        check_column(path, frame.columns, name)
        if name in taken:
            raise DataError(f"{path}: column {name} cannot be a feature too; leave it out")
    made: list[Column] = []
    notes: list[str] = []
    for name in layout.features or [name for name in frame.columns if name not in taken]:
        reason = _unfit(path, frame[name], layout)
        if reason and layout.features:
            raise DataError(f"{path}, column {name}: {reason}; leave it out of --features")
        if reason:
            notes.append(f"column {name} is left out: {reason}")
        else:
            made.append(_fitted(path, frame[name], layout))
    if not made:
        raise DataError(f"{path}: no column can be a feature; add one with numbers or categories")
    return tuple(made), tuple(notes)


def check_column(path: Path, columns: Sequence[str], name: str) -> None:
    """Raise a DataError with the nearest name where a table lacks a column."""
    if name not in columns:
        raise DataError(f"{path}: no column {name!r}; {nearest(name, list(columns)[:20])}")


def _unfit(path: Path, column: Any, layout: Layout) -> str:
    """Why a column cannot be a feature; empty where it can."""
    kind = kind_of(column)
    if kind == "nothing":
        return "every cell is missing"
    if column.name in layout.categorical or kind == "numbers":
        return ""
    if kind != "text":
        return f"cells of type {kind}, which is neither a number nor a text"
    if mostly_numbers(column):
        numbers(path, column)
    if layout.all_numeric:
        return "it holds text and --all-numeric was given"
    different = len(set(texts(column)))
    if not layout.features and different > layout.max_categories:
        return f"{different} different texts; name it in --features to use the most frequent"
    return ""


def _fitted(path: Path, column: Any, layout: Layout) -> Column:
    missing = is_missing(column)
    if layout.missing == "error":
        told = "the value is missing; fill it in, or use --missing mean"
        refuse_cells(path, column, missing, told)
    if column.name in layout.categorical or kind_of(column) == "text":
        return _categorical(column, layout.max_categories)
    return _numeric(path, column, layout.scale == "standard")


def _numeric(path: Path, column: Any, standard: bool) -> NumericColumn:
    values = numbers(path, column)
    known = values[~np.isnan(values)]
    mean = float(known.mean())
    # Columns of 0 and 1 say yes or no: shifting them would only make sparse features dense.
    standard = standard and not bool(np.isin(known, (0, 1)).all())
    constant = bool(np.ptp(known) == 0)
    return NumericColumn(
        name=column.name,
        mean=mean,
        shift=mean if standard else 0.0,
        scale=float(known.std()) if standard and not constant else 1.0,
        indicator=known.size < values.size,
    )


def _categorical(column: Any, most: int) -> CategoricalColumn:
    missing = is_missing(column)
    counts = Counter(text for text, gone in zip(texts(column), missing, strict=True) if not gone)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:most]
    return CategoricalColumn(
        name=column.name,
        categories=tuple(sorted(frequent)),
        other=len(counts) > most,
        indicator=bool(missing.any()),
    )


Matrix = NDArray[np.float32]

SPARSE_BELOW = 0.1
"""Features are stored sparse where a smaller share of them is not zero."""


def encode(path: Path, frame: Any, schema: Schema) -> tuple[Tensor, tuple[str, ...]]:
    """Return the features of every row, and notes on what the schema had not seen.

    Returns:
        Shape ``[n, schema.num_features]``, dense or, where most are zero, sparse CSR.
    """
    missing = [column.name for column in schema.columns if column.name not in frame.columns]
    if missing:
        raise DataError(
            f"{path}: no column {missing[0]!r}, which is one of the {len(schema.columns)} feature "
            f"columns of the training ({len(missing)} missing); add it"
        )
    features = np.zeros((len(frame), schema.num_features), dtype=np.float32)
    notes: list[str] = []
    start = 0
    for column in schema.columns:
        block = features[:, start : start + column.width]
        notes += _fill(block, path, frame[column.name], column, schema)
        start += column.width
    return as_tensor(features), tuple(notes)


def as_tensor(features: Matrix) -> Tensor:
    """Return features as a tensor, sparse where that is worth it."""
    if np.count_nonzero(features) < SPARSE_BELOW * features.size:
        return csr_tensor(sp.csr_matrix(features))
    return torch.from_numpy(np.ascontiguousarray(features))


def _fill(block: Matrix, path: Path, cells: Any, column: Column, schema: Schema) -> list[str]:
    missing = is_missing(cells)
    if schema.missing == "error":
        refuse_cells(path, cells, missing, "the value is missing; fill it")
    if column.indicator:
        block[:, -1] = missing
    if isinstance(column, NumericColumn):
        values = numbers(path, cells)
        with np.errstate(over="ignore"):
            block[:, 0] = (np.where(missing, column.mean, values) - column.shift) / column.scale
        told = "{} is too far from the values of the training; correct the cell"
        refuse_cells(path, cells, ~np.isfinite(block[:, 0]), told)
        return _told(
            column.name, int(missing.sum()), "missing values become the mean of the column"
        )
    unseen = _one_hot(block, texts(cells), missing, column)
    other = "rare or unseen categories count as 'other'"
    where = other if column.other else "categories unseen in training get no feature"
    return _told(column.name, unseen, f"cells: {where}")


def _one_hot(
    block: Matrix, cells: list[str], missing: NDArray[np.bool_], column: CategoricalColumn
) -> int:
    index = arrow("pandas").Index(column.categories)
    code = np.asarray(index.get_indexer(np.array(cells, dtype=object)))
    unseen = (code < 0) & ~missing
    if column.other:
        code[unseen] = len(column.categories)
    code[missing] = -1
    rows = np.flatnonzero(code >= 0)
    block[rows, code[rows]] = 1
    return int(unseen.sum())


def _told(name: str, count: int, what: str) -> list[str]:
    return [f"column {name}: {count:,} {what}"] if count else []
