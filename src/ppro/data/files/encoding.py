"""The matrix that the columns of a table make, by a schema that is old or new."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.data.files.cells import is_missing, known_texts, numbers, refuse_cells, texts
from ppro.data.files.guard import check_unpacked
from ppro.data.files.ids import plain_number
from ppro.data.files.schema import CategoricalColumn, NumericColumn, Schema, WordsColumn
from ppro.data.files.tables import arrow
from ppro.data.files.words import bag_of_words
from ppro.errors import DataError

Matrix = NDArray[np.float32]
Block: TypeAlias = Matrix | sp.csr_matrix

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
    blocks: list[Block] = []
    notes: list[str] = []
    for is_text, group in groupby(schema.columns, lambda column: isinstance(column, WordsColumn)):
        make = _word_blocks if is_text else _dense_block
        made, told = make(path, frame, tuple(group), schema)
        blocks += made
        notes += told
    return _joined(path, blocks), tuple(notes)


def _dense_block(
    path: Path, frame: Any, columns: Sequence[Any], schema: Schema
) -> tuple[list[Block], list[str]]:
    """Return the features of columns of numbers and of categories, and notes."""
    width = sum(column.width for column in columns)
    check_unpacked(path, 4 * len(frame) * width)
    features = np.zeros((len(frame), width), dtype=np.float32)
    notes: list[str] = []
    start = 0
    for column in columns:
        block = features[:, start : start + column.width]
        notes += _fill(block, path, frame[column.name], column, schema)
        start += column.width
    return [features], notes


def _word_blocks(
    path: Path, frame: Any, columns: Sequence[Any], schema: Schema
) -> tuple[list[Block], list[str]]:
    """Return the features of columns of texts, and notes."""
    blocks: list[Block] = []
    notes: list[str] = []
    for column in columns:
        cells = frame[column.name]
        _refuse_missing(path, cells, is_missing(cells), schema)
        found, strange = bag_of_words(column.words, known_texts(cells))
        blocks.append(found)
        notes += _told(column.name, strange, "texts have no word that is a feature")
    return blocks, notes


def _joined(path: Path, blocks: Sequence[Block]) -> Tensor:
    """Return blocks of features side by side."""
    if len(blocks) == 1 and isinstance(blocks[0], np.ndarray):
        return as_tensor(blocks[0])
    joined = sp.hstack([sp.csr_matrix(block) for block in blocks], format="csr")
    if joined.nnz < SPARSE_BELOW * np.prod(joined.shape):
        return csr_tensor(joined)
    check_unpacked(path, 4 * int(np.prod(joined.shape)))
    return torch.from_numpy(joined.toarray())


def as_tensor(features: Matrix) -> Tensor:
    """Return features as a tensor, sparse where that is worth it."""
    if np.count_nonzero(features) < SPARSE_BELOW * features.size:
        return csr_tensor(sp.csr_matrix(features))
    return torch.from_numpy(np.ascontiguousarray(features))


def _refuse_missing(path: Path, cells: Any, missing: NDArray[np.bool_], schema: Schema) -> None:
    if schema.missing == "error":
        refuse_cells(path, cells, missing, "the value is missing; fill it")


def _fill(
    block: Matrix,
    path: Path,
    cells: Any,
    column: NumericColumn | CategoricalColumn,
    schema: Schema,
) -> list[str]:
    missing = is_missing(cells)
    _refuse_missing(path, cells, missing, schema)
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
    code = np.where(missing, -1, _codes(cells, column.categories))
    unseen = (code < 0) & ~missing
    if column.other:
        code[unseen] = len(column.categories)
    rows = np.flatnonzero(code >= 0)
    block[rows, code[rows]] = 1
    return int(unseen.sum())


def _codes(cells: list[str], categories: Sequence[str]) -> NDArray[np.int64]:
    """Return the category of every cell, -1 where none; 1, 01 and 1.0 meet where they can."""
    pd = arrow("pandas")
    code = pd.Index(categories).get_indexer(np.array(cells, dtype=object))
    plain = pd.Index([plain_number(name) for name in categories])
    if (code < 0).any() and plain.is_unique:
        spelled = plain.get_indexer(np.array([plain_number(cell) for cell in cells], dtype=object))
        code = np.where(code < 0, spelled, code)
    return np.asarray(code, dtype=np.int64)


def _told(name: str, count: int, what: str) -> list[str]:
    return [f"column {name}: {count:,} {what}"] if count else []
