"""A graph from a table of nodes and a table of edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.columns import check_column, choose_columns, encode
from ppro.data.files.nodes_and_edges import (
    class_codes,
    classes_of,
    edge_pairs,
    edge_weights,
    end_columns,
    node_ids,
    split_masks,
)
from ppro.data.files.reading import Parts, Reading, finished
from ppro.data.files.schema import CategoricalColumn, Layout, Schema
from ppro.data.files.tables import column_names, read_table
from ppro.data.readers.raw import IntArray
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

USUAL_IDS = ("id", "node_id", "node")
USUAL_LABELS = ("label", "class", "y")
PLAIN_NAMES = ("nodes", "node", "vertices")


@dataclass(frozen=True, eq=False)
class Pair:
    """Two pandas frames and the files that they came from."""

    node_file: Path
    nodes: Any
    edge_file: Path
    edges: Any

    @property
    def name(self) -> str:
        """What to call the graph: the name of the node file, or of its folder if that is plain."""
        stem = self.node_file.stem
        if stem.lower() in PLAIN_NAMES:
            stem = self.node_file.absolute().parent.name
        return re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "graph"


def read_pair(nodes: Path, edges: Path, layout: Layout, schema: Schema | None = None) -> Reading:
    """Read a graph from two tables.

    Args:
        schema: that of a training, to be applied to these tables; None makes a new one.
    """
    node_columns, edge_columns = column_names(nodes), column_names(edges)
    layout = resolved(nodes, node_columns, layout, schema)
    ends = end_columns(edges, edge_columns, layout.source, layout.target)
    pair = Pair(nodes, read_table(nodes, text_columns(layout)), edges, read_table(edges, ends))
    return graph_of(pair, layout, ends, schema)


def resolved(
    path: Path, columns: Sequence[str], layout: Layout, schema: Schema | None = None
) -> Layout:
    """Return the layout with every column name filled in: from a schema, or by the usual names."""
    if schema is not None:
        layout = _layout_of(schema)
        if schema.label not in columns:
            layout = layout.model_copy(update={"label": None})
    else:
        label = layout.label or _first(USUAL_LABELS, columns)
        if label is None:
            raise DataError(
                f"{path}: which column is the label? Name it with --label; {_of(columns)}"
            )
        update = {"label": label, "id": layout.id or _first(USUAL_IDS, columns)}
        layout = layout.model_copy(update=update)
    for name in (layout.id, layout.label, layout.split_column):
        if name is not None:
            check_column(path, columns, name)
    return layout


def text_columns(layout: Layout) -> set[str]:
    """Return the columns of the node table that hold text, whatever they look like."""
    named = (layout.id, layout.label, layout.split_column, *layout.categorical)
    return {name for name in named if name is not None}


def graph_of(
    pair: Pair, layout: Layout, ends: tuple[str, str], schema: Schema | None = None
) -> Reading:
    """Return the graph of two frames; see :func:`read_pair`."""
    notes: tuple[str, ...] = ()
    if schema is None:
        schema, notes = _new_schema(pair, layout, ends)
    ids = None if layout.id is None else node_ids(pair.node_file, pair.nodes[layout.id])
    labels, label_notes = _labels(pair, layout, schema)
    features, feature_notes = encode(pair.node_file, pair.nodes, schema)
    names = ids or [str(row) for row in range(len(pair.nodes))]
    pairs = edge_pairs(pair.edge_file, pair.edges, ends, names)
    weights = edge_weights(pair.edge_file, pair.edges, layout.weight)
    masks = None
    if layout.split_column is not None:
        masks = split_masks(pair.node_file, pair.nodes[layout.split_column], labels)
    parts = Parts(pair.name, pairs, features, labels, weights, ids)
    told = notes + label_notes + feature_notes
    return finished(pair.edge_file, parts, schema, masks, told)


def _new_schema(
    pair: Pair, layout: Layout, ends: tuple[str, str]
) -> tuple[Schema, tuple[str, ...]]:
    taken = (layout.id, layout.label, layout.split_column)
    classes = classes_of(pair.node_file, pair.nodes[layout.label])
    columns, notes = choose_columns(pair.node_file, pair.nodes, layout, taken)
    schema = Schema(
        kind="table",
        id=layout.id,
        label=layout.label,
        split_column=layout.split_column,
        source=ends[0],
        target=ends[1],
        weight=layout.weight,
        missing=layout.missing,
        columns=columns,
        num_features=sum(column.width for column in columns),
        class_names=classes,
    )
    return schema, notes


def _layout_of(schema: Schema) -> Layout:
    categorical = [c.name for c in schema.columns if isinstance(c, CategoricalColumn)]
    return Layout(
        label=schema.label,
        id=schema.id,
        categorical=tuple(categorical),
        source=schema.source,
        target=schema.target,
        weight=schema.weight,
        missing=schema.missing,
    )


def _labels(pair: Pair, layout: Layout, schema: Schema) -> tuple[IntArray, tuple[str, ...]]:
    if layout.label is None:
        return np.full(len(pair.nodes), UNLABELLED, dtype=np.int64), ()
    return class_codes(pair.nodes[layout.label], schema.class_names)


def _first(usual: Sequence[str], columns: Sequence[str]) -> str | None:
    return next((name for name in usual if name in columns), None)


def _of(columns: Sequence[str]) -> str:
    return f"its columns: {', '.join(list(columns)[:20])}"
