"""The table of nodes: what a run says of every node, as CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ppro.data.files.export import part_names, write_table
from ppro.data.splits import Splits
from ppro.fitting import NodeTable
from ppro.graph import UNLABELLED, Graph

COLUMNS = ("id", "label", "predicted", "probability", "step", "priority", "split")
"""The first columns; after them comes the probability of each class."""

PARQUET = (".parquet", ".pq")


def write_nodes(
    path: Path,
    graph: Graph,
    splits: Splits,
    nodes: NodeTable,
    run: int,
    *,
    parquet: bool = False,
) -> None:
    """Write the table of one run as CSV or as Parquet."""
    columns = node_columns(graph, splits, nodes, run)
    if parquet:
        write_table(path, columns, "parquet")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(_rows(columns))


def node_columns(graph: Graph, splits: Splits, nodes: NodeTable, run: int) -> dict[str, Any]:
    """Every column of the table by its name; texts as lists, numbers as arrays."""
    names, probabilities = graph.class_names, nodes.probabilities[run]
    best, predicted = probabilities.max(-1)
    first = (
        list(graph.node_ids or map(str, range(graph.num_nodes))),
        ["" if c == UNLABELLED else names[c] for c in graph.labels.tolist()],
        [names[c] for c in predicted.tolist()],
        best.numpy(),
        nodes.steps[run].numpy(),
        nodes.priorities[run].numpy(),
        part_names(splits, run),
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
