"""A graph as a table of nodes and a table of edges."""

from pathlib import Path
from typing import Any

import torch

from ppro.data.files.tables import arrow, is_csv
from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph

PART = "part"


def export_graph(
    graph: Graph, nodes: Path, edges: Path, splits: Splits | None = None, *, kind: str | None = None
) -> None:
    """Write a graph as two tables that ``ppro train --nodes --edges`` reads.

    The columns of the nodes are id, label, ``part`` where splits are given (that of the first
    run) and feature_0, feature_1 …; those of the edges source, target and, with weights, weight.
    Every undirected edge is listed once, those of a directed graph from source to target.

    Args:
        kind: ``csv`` or ``parquet``; by default what the suffix says.
    """
    write_table(nodes, _node_columns(graph, splits), kind)
    write_table(edges, _edge_columns(graph), kind)


def write_table(path: Path, columns: dict[str, Any], kind: str | None = None) -> None:
    """Write columns as CSV or Parquet.

    Args:
        kind: ``csv`` or ``parquet``; by default what the suffix says.
    """
    table = arrow("pyarrow").table(columns)
    if kind == "csv" or (kind is None and is_csv(path)):
        writer = arrow("pyarrow.csv")
        writer.write_csv(table, path, writer.WriteOptions(quoting_style="needed"))
    else:
        arrow("pyarrow.parquet").write_table(table, path)


def part_names(splits: Splits, run: int) -> list[str]:
    """Return the part of the split that each node is in: train, val, test or none."""
    parts = ("none", "train", "val", "test")
    return [parts[c] for c in splits.parts(run).tolist()]


def _node_columns(graph: Graph, splits: Splits | None) -> dict[str, Any]:
    features = graph.features
    dense = features.to_dense() if features.layout == torch.sparse_csr else features
    whole = bool((dense == dense.round()).all()) and bool(dense.abs().max() < 2**24)
    values = (dense.to(torch.int32) if whole else dense).numpy()
    names = graph.class_names
    columns: dict[str, Any] = {
        "id": _ids(graph),
        "label": ["" if c == UNLABELLED else names[c] for c in graph.labels.tolist()],
    }
    if splits is not None:
        columns[PART] = part_names(splits, 0)
    return columns | {f"feature_{k}": values[:, k] for k in range(values.shape[1])}


def _edge_columns(graph: Graph) -> dict[str, Any]:
    ids = _ids(graph)
    source, target = graph.edge_index
    once = source < target if graph.arcs is None else graph.arcs != 0
    columns: dict[str, Any] = {
        "source": [ids[u] for u in source[once].tolist()],
        "target": [ids[v] for v in target[once].tolist()],
    }
    if graph.edge_weight is not None:
        weight = graph.edge_weight if graph.arcs is None else graph.arcs
        columns["weight"] = weight[once].numpy()
    return columns


def _ids(graph: Graph) -> list[str]:
    return list(graph.node_ids or map(str, range(graph.num_nodes)))
