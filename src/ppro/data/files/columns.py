"""Columns of a table: which of them become features, and how."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.cells import (
    is_missing,
    kind_of,
    known_texts,
    mostly_numbers,
    numbers,
    refuse_cells,
    texts,
)
from ppro.data.files.labels import says_parts
from ppro.data.files.schema import CategoricalColumn, Column, Layout, NumericColumn, WordsColumn
from ppro.data.files.tables import INDEX_COLUMNS
from ppro.data.files.words import is_of_several_words, telling_words
from ppro.errors import DataError
from ppro.parts import nearest

SHOWN = 20
"""Columns that a message lists."""
COUNTED = 20
"""A column that numbers as many rows or more is no feature."""
_PARTS = ("train", "training", "val", "valid", "validation", "dev", "test", "holdout")
MASKS = {name for part in _PARTS for name in (part, f"{part}_mask", f"is_{part}")}
"""Names, in lower case, of columns that say with yes and no which nodes train, validate or test."""
FOLDS = {"split", "fold", "folds", "fold_id", "cv_fold", "kfold"}
MOST_FOLDS = 20
"""Columns of these names, in lower case, number the parts of a split, if these are no more."""


def choose_columns(
    path: Path, frame: Any, layout: Layout, taken: Sequence[str | None]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the feature columns of a table, in its order, and notes on those left out.

    Columns that a user names are all used. Otherwise every column is that holds numbers or, but
    for ``--all-numeric``, at most ``max_categories`` different texts; ``add_features`` adds
    columns with more of them, of which the most frequent count, and ``words`` columns of texts
    whose words count.

    Args:
        taken: columns that are no features: id, label, split.
    """
    added = (*layout.add_features, *layout.words)
    asked = (*(layout.features or ()), *added)
    for name in (*asked, *layout.categorical):
        check_column(path, frame.columns, name)
        if name in taken:
            raise DataError(f"{path}: column {name} cannot be a feature too; leave it out")
        if name in layout.words and name in layout.categorical:
            raise DataError(f"{path}: column {name} is named in --words and --categorical")
    made: list[Column] = []
    notes: list[str] = []
    usual = [name for name in frame.columns if name not in taken]
    for name in dict.fromkeys((*layout.features, *added)) if layout.features else usual:
        reason = _unfit(path, frame[name], layout, asked=name in asked)
        if reason and name in asked:
            option = _option_of(name, layout)
            raise DataError(f"{path}, column {name}: {reason}; leave it out of {option}")
        if reason:
            notes.append(f"column {name} is left out: {reason}")
        else:
            made.append(_fitted(path, frame[name], layout))
    if not made:
        why = f" ({notes[0]})" if notes else ""
        told = "no column can be a feature; add one, such as how many edges a node has"
        raise DataError(f"{path}: {told}{why}")
    return tuple(made), tuple(notes)


def check_column(path: Path, columns: Sequence[str], name: str) -> None:
    """Raise a DataError with the nearest name where a table lacks a column."""
    if name not in columns:
        shown = ", ".join(columns[:SHOWN]) + (" …" if len(columns) > SHOWN else "")
        raise DataError(f"{path}: no column {name!r}; {nearest(name, columns, f'valid: {shown}')}")


def _option_of(name: str, layout: Layout) -> str:
    """Return the option that asked for a column."""
    if name in layout.words:
        return "--words"
    return "--add-features" if name in layout.add_features else "--features"


def _unfit(path: Path, column: Any, layout: Layout, *, asked: bool) -> str:
    """Return why a column cannot be a feature; empty where it can."""
    kind = kind_of(column)
    if kind == "nothing":
        return "every cell is missing"
    if not asked and (reason := _not_of_nodes(column, kind) or _counts(path, column, kind)):
        return reason
    if column.name in layout.words and kind == "text":
        found = telling_words(known_texts(column), most=1)
        return "" if found else "no word is in two of its texts or more and in half at most"
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


def _not_of_nodes(column: Any, kind: str) -> str:
    """Why a column tells what is done with a node, and not of the node; empty where it does."""
    name = str(column.name)
    is_split, unclear = says_parts(column) if kind == "text" else (False, [])
    if is_split and unclear:
        return f"it reads like a split; write val or test for {unclear[0]!r} to train with it"
    if is_split:
        return f"it reads like a split; --split-column {name!r} trains with it"
    if name.lower() in MASKS and column.nunique() <= 2:
        return "it reads like the mask of a split; --split-column takes train, val and test"
    if name.lower() in FOLDS and kind == "numbers" and column.nunique() <= MOST_FOLDS:
        return f"it reads like the parts of a split; --add-features {name!r} keeps it"
    return ""


def _counts(path: Path, column: Any, kind: str) -> str:
    """Return why a column only numbers the rows, which is no feature; empty where it does not."""
    if column.name in INDEX_COLUMNS:
        return "the index of a pandas frame, without a name"
    rows = np.arange(len(column))
    if kind != "numbers" or len(rows) < COUNTED or str(column.dtype) == "bool":
        return ""
    values = numbers(path, column)
    if not (values - values[0] == rows).all():
        return ""
    return f"it numbers the rows; --add-features {column.name!r} keeps it"


def _too_many(column: Any, most: int) -> str:
    """Return that a column of text has too many categories, and what to do; empty if it has not."""
    known = [text for text in known_texts(column) if text]
    different = len(set(known))
    if different <= most:
        return ""
    if is_of_several_words(known):
        return f"{different:,} different texts; --words {column.name!r} makes features of the words"
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
    if column.name in layout.words:
        words = telling_words(known_texts(column), layout.max_words)
        return WordsColumn(name=column.name, words=words)
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
