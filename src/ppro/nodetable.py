"""The table of nodes: what a run says of every node, as CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ppro.blocks import row_blocks
from ppro.data.files.export import part_names, write_table
from ppro.data.splits import Splits
from ppro.fitting import NodeTable
from ppro.graph import UNLABELLED, Graph

COLUMNS = ("id", "label", "predicted", "probability", "step", "priority", "split")
"""The first columns; after them comes the probability of each class."""

PART = 100_000
"""Rows made into text at a time."""

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
    everything = slice(0, graph.num_nodes)
    if parquet:
        write_table(path, node_columns(graph, splits, nodes, run, everything), "parquet")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        # Part after part: the texts of all nodes together would take far more than their numbers.
        for part in row_blocks(graph.num_nodes, PART):
            columns = node_columns(graph, splits, nodes, run, part)
            if part.start == 0:
                writer.writerow(columns)
            writer.writerows(_rows(columns))


def node_columns(
    graph: Graph, splits: Splits, nodes: NodeTable, run: int, part: slice
) -> dict[str, Any]:
    """The columns of some of the rows by their names; texts as lists, numbers as arrays."""
    names, probabilities = graph.class_names, nodes.probabilities[run, part]
    best, predicted = probabilities.max(-1)
    masks = (mask[run : run + 1, part] for mask in (splits.train, splits.val, splits.test))
    ids = graph.node_ids
    first = (
        list(map(str, range(part.start, part.stop)) if ids is None else ids[part]),
        ["" if c == UNLABELLED else names[c] for c in graph.labels[part].tolist()],
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
