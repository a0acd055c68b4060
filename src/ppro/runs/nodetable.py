"""The table of nodes: what a run says of every node, as CSV or Parquet."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ppro.compute.blocks import row_blocks
from ppro.data.files.export import part_names
from ppro.data.files.tables import arrow
from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED
from ppro.runs.nodes import NodeRecords

COLUMNS = ("id", "label", "predicted", "probability", "step", "priority", "split")
"""The first columns; after them comes the probability of each class."""

CLASS_COLUMN = "p_"
"""How the names of the columns with the probability of a class begin."""

PART = 100_000
"""Rows made into text, or into a row group of Parquet, at a time."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a text begins that a spreadsheet takes for a formula."""

PARQUET = (".parquet", ".pq")


def write_nodes(
    path: Path, records: NodeRecords, *, parquet: bool = False, safe: bool = False
) -> None:
    """Write the table as CSV or as Parquet, part after part.

    The texts of all nodes together would take far more memory than their numbers.

    Args:
        safe: put an apostrophe before texts of a CSV that a spreadsheet would take for a formula.
    """
    parts = (node_columns(records, part) for part in row_blocks(records.steps.shape[0], PART))
    if parquet:
        _write_parquet(path, parts)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, columns in enumerate(parts):
            if number == 0:
                writer.writerow(map(no_formula, columns) if safe else columns)
            writer.writerows(_rows(_without_formulas(columns) if safe else columns))


def no_formula(text: str) -> str:
    """Return a text that a spreadsheet shows and does not work out."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _without_formulas(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: [no_formula(text) for text in column] if isinstance(column, list) else column
        for name, column in columns.items()
    }


def _write_parquet(path: Path, parts: Iterator[dict[str, Any]]) -> None:
    """Write a row group for each part; the first part decides the types."""
    table, writer = arrow("pyarrow").table, arrow("pyarrow.parquet").ParquetWriter
    first = table(next(parts))
    with writer(path, first.schema) as file:
        file.write_table(first)
        for columns in parts:
            file.write_table(table(columns, schema=first.schema))


def node_columns(records: NodeRecords, part: slice) -> dict[str, Any]:
    """Return the columns of some of the rows by name; texts as lists, numbers as arrays."""
    assert records.probabilities is not None
    names, probabilities = records.class_names, records.probabilities[part]
    best, predicted = probabilities.max(-1)
    if records.predicted is not None:
        predicted = records.predicted[part]
        best = probabilities.gather(1, predicted.unsqueeze(1)).squeeze(1)
    run, splits, ids = records.run, records.splits, records.ids
    masks = (mask[run : run + 1, part] for mask in (splits.train, splits.val, splits.test))
    first = (
        [str(i) for i in range(part.start, part.stop)] if ids is None else list(ids[part]),
        ["" if c == UNLABELLED else names[c] for c in records.labels[part].tolist()],
        [names[c] for c in predicted.tolist()],
        best.numpy(),
        records.steps[part].numpy(),
        records.priorities[part].numpy(),
        part_names(Splits(splits.name, *masks), 0),
    )
    chances = {f"{CLASS_COLUMN}{name}": probabilities[:, c].numpy() for c, name in enumerate(names)}
    return dict(zip(COLUMNS, first, strict=True)) | chances


def _rows(columns: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a CSV file; six digits are enough for single precision."""
    shown = [
        column if isinstance(column, list) else [f"{value:.6g}" for value in column.tolist()]
        for column in columns.values()
    ]
    return zip(*shown, strict=True)
