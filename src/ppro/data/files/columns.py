"""Columns of a table: which of them are features, and the matrix they make."""

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
from ppro.data.files.cells import (
    is_missing,
    kind_of,
    mostly_numbers,
    numbers,
    refuse_cells,
    texts,
)
from ppro.data.files.guard import check_unpacked
from ppro.data.files.schema import CategoricalColumn, Column, Layout, NumericColumn, Schema
from ppro.data.files.tables import arrow
from ppro.errors import DataError
from ppro.parts import nearest


def choose_columns(
    path: Path, frame: Any, layout: Layout, taken: Sequence[str | None]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the feature columns of a table, in its order, and notes on those left out.

    Columns that a user names are all used. Otherwise every column is that holds numbers or, but
    for ``--all-numeric``, at most ``max_categories`` different texts; ``add_features`` adds
    columns with more of them, of which the most frequent count.

    Args:
        taken: columns that are no features: id, label, split.
    """
    asked = (*(layout.features or ()), *layout.add_features)
    for name in (*asked, *layout.categorical):
        check_column(path, frame.columns, name)
        if name in taken:
            raise DataError(f"{path}: column {name} cannot be a feature too; leave it out")
    made: list[Column] = []
    notes: list[str] = []
    usual = [name for name in frame.columns if name not in taken]
    for name in (
        dict.fromkeys((*layout.features, *layout.add_features)) if layout.features else usual
    ):
        reason = _unfit(path, frame[name], layout, asked=name in asked)
        if reason and name in asked:
            option = "--add-features" if name in layout.add_features else "--features"
            raise DataError(f"{path}, column {name}: {reason}; leave it out of {option}")
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


def _unfit(path: Path, column: Any, layout: Layout, *, asked: bool) -> str:
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
    if asked:
        return ""
    if layout.all_numeric:
        return "it holds text and --all-numeric was given"
    return _too_many(column, layout.max_categories)


def _too_many(column: Any, most: int) -> str:
    """Why a column of text has too many categories, and what to do; empty where it has not."""
    known = [text for text in texts(column) if text]
    different = len(set(known))
    if different <= most:
        return ""
    if different == len(known):
        return f"{different:,} different texts, each of one node alone, tell nothing of the others"
    return (
        f"{different:,} different texts; --add-features {column.name!r} uses the {most} most "
        f"frequent, --max-categories {different} all of them"
    )


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
    check_unpacked(path, 4 * len(frame) * schema.num_features)
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
