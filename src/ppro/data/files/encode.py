"""Feature columns of a table as one matrix, in the order that a schema states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.data.files.columns import is_missing, numbers, texts
from ppro.data.files.schema import CategoricalColumn, Column, NumericColumn, Schema
from ppro.data.files.tables import arrow
from ppro.errors import DataError

Matrix = NDArray[np.float32]

SPARSE_BELOW = 0.1
"""Features are stored sparse where a smaller share of them is not zero."""


def encode(path: Path, frame: Any, schema: Schema) -> tuple[Tensor, tuple[str, ...]]:
    """The features of every row, and notes on what the schema had not seen.

    Returns:
        Shape ``[n, schema.num_features]``, dense or, where most are zero, sparse CSR.

    Raises:
        DataError: a column is missing, or a cell is no number where the schema has numbers.
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
    """Features as a tensor, sparse where that is worth it."""
    if np.count_nonzero(features) < SPARSE_BELOW * features.size:
        return csr_tensor(sp.csr_matrix(features))
    return torch.from_numpy(np.ascontiguousarray(features))


def _fill(block: Matrix, path: Path, cells: Any, column: Column, schema: Schema) -> list[str]:
    missing = is_missing(cells)
    if missing.any() and schema.missing == "error":
        row = int(missing.argmax()) + 1
        raise DataError(f"{path}, row {row}, column {column.name}: the value is missing; fill it")
    if column.indicator:
        block[:, -1] = missing
    if isinstance(column, NumericColumn):
        values = numbers(path, cells)
        with np.errstate(over="ignore"):
            block[:, 0] = (np.where(missing, column.mean, values) - column.shift) / column.scale
        _check_finite(block, path, cells)
        return _told(
            column.name, int(missing.sum()), "missing values become the mean of the column"
        )
    unseen = _one_hot(block, texts(cells), missing, column)
    where = (
        "rare or unseen categories count as 'other'"
        if column.other
        else ("categories unseen in training get no feature")
    )
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


def _check_finite(block: Matrix, path: Path, cells: Any) -> None:
    wrong = ~np.isfinite(block[:, 0])
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{path}, row {row + 1}, column {cells.name}: {cells.iloc[row]} is too far from the "
            "values of the training; correct the cell"
        )


def _told(name: str, count: int, what: str) -> list[str]:
    return [f"column {name}: {count:,} {what}"] if count else []
