"""The table of nodes: what a run says of every node, as CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.data.files.export import part_names
from ppro.data.files.tables import arrow
from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.training.fit import NodeTable

COLUMNS = ("id", "label", "predicted", "probability", "step", "priority", "split")
"""The first columns; after them comes the probability of each class."""

PART = 100_000
"""Rows made into text, or into a row group of Parquet, at a time."""

PARQUET = (".parquet", ".pq")


def write_nodes(
    path: Path,
    graph: Graph,
    splits: Splits,
    nodes: NodeTable,
    run: int,
    *,
    parquet: bool = False,
    of: Tensor | None = None,
) -> None:
    """Write the table of one run as CSV or as Parquet, part after part.

    The texts of all nodes together would take far more memory than their numbers.

    Args:
        of: the nodes that the rows of the table are about; None for all. Shape ``[m]``.
    """
    parts = (
        node_columns(graph, splits, nodes, run, part, of)
        for part in row_blocks(nodes.steps.shape[1], PART)
    )
    if parquet:
        _write_parquet(path, parts)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, columns in enumerate(parts):
            if number == 0:
                writer.writerow(columns)
            writer.writerows(_rows(columns))


def _write_parquet(path: Path, parts: Iterator[dict[str, Any]]) -> None:
    """One row group for each part; the first part decides the types."""
    table, writer = arrow("pyarrow").table, arrow("pyarrow.parquet").ParquetWriter
    first = table(next(parts))
    with writer(path, first.schema) as file:
        file.write_table(first)
        for columns in parts:
            file.write_table(table(columns, schema=first.schema))


def node_columns(
    graph: Graph,
    splits: Splits,
    nodes: NodeTable,
    run: int,
    part: slice,
    of: Tensor | None = None,
) -> dict[str, Any]:
    """The columns of some of the rows by their names; texts as lists, numbers as arrays."""
    about = torch.arange(part.start, part.stop) if of is None else of[part]
    names, probabilities = graph.class_names, nodes.probabilities[run, part]
    best, predicted = probabilities.max(-1)
    masks = (mask[run : run + 1, about] for mask in (splits.train, splits.val, splits.test))
    ids = graph.node_ids
    first = (
        [str(i) if ids is None else ids[i] for i in about.tolist()],
        ["" if c == UNLABELLED else names[c] for c in graph.labels[about].tolist()],
        [names[c] for c in predicted.tolist()],
        best.numpy(),
        nodes.steps[run, part].numpy(),
        nodes.priorities[run, part].numpy(),
        part_names(Splits(splits.name, *masks), 0),
    )
    chances = {f"p_{name}": probabilities[:, c].numpy() for c, name in enumerate(names)}
    return dict(zip(COLUMNS, first, strict=True)) | chances


def _rows(columns: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows as they stand in a CSV file: six digits say all that single precision knows."""
    shown = [
        column if isinstance(column, list) else [f"{value:.6g}" for value in column.tolist()]
        for column in columns.values()
    ]
    return zip(*shown, strict=True)
