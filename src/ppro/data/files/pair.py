"""A graph from a table of nodes and a table of edges."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ppro.data.files.cells import with_decimal_points
from ppro.data.files.columns import check_column, choose_columns
from ppro.data.files.csv_tables import is_packed
from ppro.data.files.edges import (
    USUAL_ENDS,
    edge_pairs,
    edge_weights,
    end_columns,
    names_without_header,
    told_of_ends,
    weight_column,
)
from ppro.data.files.encoding import encode
from ppro.data.files.ids import NodeIndex, ids_of_edges, node_ids
from ppro.data.files.labels import class_codes, classes_of, label_copies, label_notes, split_masks
from ppro.data.files.reading import FileParts, Reading, finished
from ppro.data.files.schema import NO_WEIGHT, CategoricalColumn, Layout, Schema, WordsColumn
from ppro.data.files.tables import (
    INDEX_COLUMNS,
    FileTable,
    Table,
    check_names,
    check_rows,
    usual_column,
)
from ppro.data.files.written_numbers import with_written_numbers
from ppro.data.readers.raw import IntArray
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

USUAL_IDS = ("id", "node_id", "node")
USUAL_LABELS = ("label", "class", "y")
PLAIN_NAMES = ("nodes", "node", "vertices")


@dataclass(frozen=True, eq=False)
class Pair:
    """Two pandas frames, the files that they came from, and what was done to them.

    Args:
        ids: of the nodes as they are written; None where nodes are numbered by their rows.
        directed: whether edges may point from source to target.
    """

    node_file: Path
    nodes: Any
    edge_file: Path
    edges: Any
    ids: tuple[str, ...] | None
    ends: tuple[str, str]
    notes: tuple[str, ...] = ()
    directed: bool = True

    @property
    def index(self) -> NodeIndex:
        """Return what finds a node by its id."""
        return NodeIndex(self.node_file, _ids_or_rows(self.ids, self.nodes), self.nodes)

    @property
    def name(self) -> str:
        """What to call the graph: the name of the node file, or of its folder if that is plain."""
        file = self.node_file
        stem = file.with_suffix("").stem if is_packed(file) else file.stem
        if stem.lower() in PLAIN_NAMES:
            stem = file.absolute().parent.name
        return re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "graph"


def read_pair(
    nodes: Table | Path, edges: Table | Path, layout: Layout, schema: Schema | None = None
) -> Reading:
    """Read a graph from two tables.

    Args:
        schema: that of a training, to be applied to these tables; None makes a new one.
    """
    nodes = FileTable(nodes) if isinstance(nodes, Path) else nodes
    edges = FileTable(edges) if isinstance(edges, Path) else edges
    columns = nodes.columns()
    check_names(nodes.path, columns)
    layout = resolved(nodes.path, columns, layout, schema)
    pair = _read_both(nodes, edges, layout, new=schema is not None)
    if schema is None and layout.id is None:
        ends = [pair.edges[name] for name in pair.ends]
        column, told = ids_of_edges(pair.index, ends, (layout.label, layout.split_column))
        if column is not None:
            layout = layout.model_copy(update={"id": column})
            pair = _read_both(nodes, edges, layout, new=False)
        pair = replace(pair, notes=(*told, *pair.notes))
    return graph_of(pair, layout, schema)


def _read_both(nodes: Table, edges: Table, layout: Layout, *, new: bool) -> Pair:
    """Return the two tables as they are, by a layout that names the columns of ids and labels."""
    text = text_columns(layout)
    rows, notes = _with_numbers(nodes.path, nodes.read(text), text)
    check_rows(nodes.path, rows)
    ids = None if layout.id is None else node_ids(nodes.path, rows[layout.id])
    index = NodeIndex(nodes.path, _ids_or_rows(ids, rows))
    links, ends, told = _read_edges(edges, layout, index, new=new)
    return Pair(nodes.path, rows, edges.path, links, ids, ends, (*notes, *told))


def _read_edges(
    edges: Table, layout: Layout, index: NodeIndex, *, new: bool
) -> tuple[Any, tuple[str, str], list[str]]:
    """Return the table of edges, the columns of their ends, and notes."""
    columns, names, notes = edges.columns(), None, list[str]()
    if edges.may_lack_header and not (layout.source in columns and layout.target in columns):
        names = names_without_header(columns, index)
    if names is not None:
        told = f"{edges.path}: no header, it seems: its first row {columns[0]}, {columns[1]} is"
        notes.append(f"{told} taken for an edge, not for the names of columns")
        ends = ("source", "target")
    else:
        check_names(edges.path, columns)
        ends = end_columns(edges.path, columns, layout.source, layout.target)
        notes += told_of_ends(edges.path, columns, ends) if layout.source is None else []
    frame, told_of_numbers = _with_numbers(edges.path, edges.read(ends, names), ends)
    if not new:
        check_rows(edges.path, frame)
    return frame, ends, notes + told_of_numbers


def _with_numbers(path: Path, frame: Any, text: Collection[str]) -> tuple[Any, list[str]]:
    """Return a frame whose numbers are numbers however they are written, and notes on them."""
    frame, notes = with_written_numbers(path, frame, text)
    frame, commas = with_decimal_points(path, frame, text)
    return frame, notes + commas


def _ids_or_rows(ids: tuple[str, ...] | None, nodes: Any) -> Sequence[str]:
    return ids or [str(row) for row in range(len(nodes))]


def resolved(
    path: Path, columns: Sequence[str], layout: Layout, schema: Schema | None = None
) -> Layout:
    """Return the layout with every column name filled in: from a schema, or by the usual names."""
    if schema is not None:
        layout = _layout_of(schema)
        if schema.label not in columns:
            layout = layout.model_copy(update={"label": None})
        if schema.id in INDEX_COLUMNS and schema.id not in columns:
            layout = layout.model_copy(update={"id": None})
    else:
        label = layout.label or usual_column(USUAL_LABELS, columns)
        if label is None:
            if any(set(ends) <= {name.lower() for name in columns} for ends in USUAL_ENDS):
                told = "no label, but the ends of edges: --nodes and --edges may be swapped"
                raise DataError(f"{path}: {told}; else name the label with --label; {_of(columns)}")
            raise DataError(
                f"{path}: which column is the label? Name it with --label; {_of(columns)}"
            )
        update = {"label": label, "id": layout.id or usual_column(USUAL_IDS, columns)}
        layout = layout.model_copy(update=update)
    for name in (layout.id, layout.label, layout.split_column):
        if name is not None:
            check_column(path, columns, name)
    return layout


def text_columns(layout: Layout) -> set[str]:
    """Return the columns of the node table that hold text, whatever they look like."""
    named = (layout.id, layout.label, layout.split_column, *layout.categorical, *layout.words)
    return {name for name in named if name is not None}


def graph_of(pair: Pair, layout: Layout, schema: Schema | None = None) -> Reading:
    """Return the graph of two frames; see :func:`read_pair`."""
    new = schema is not None
    if schema is not None and schema.weight and schema.weight not in pair.edges.columns:
        lacks = f"no column {schema.weight!r}, which weighs the edges of the training; add it"
        raise DataError(f"{pair.edge_file}: {lacks}")
    weight, notes = weight_column(pair.edge_file, pair.edges, layout.weight, pair.ends)
    if schema is None:
        schema, told = _new_schema(pair, layout, weight)
        notes += told
    else:
        # What is not used was told at the training.
        notes = []
    labels, of_labels = _labels(pair, layout, schema)
    features, of_features = encode(pair.node_file, pair.nodes, schema)
    pairs, of_ids = edge_pairs(pair.edge_file, pair.edges, pair.ends, pair.index)
    weights = None if weight is None else edge_weights(pair.edge_file, pair.edges[weight])
    masks = None
    if layout.split_column is not None:
        masks, of_split = split_masks(pair.node_file, pair.nodes[layout.split_column], labels)
        notes += of_split
    parts = FileParts(pair.name, pairs, features, labels, weights, pair.ids, pair.directed)
    everything = (*pair.notes, *of_ids, *notes, *of_labels, *of_features)
    return finished(pair.edge_file, parts, schema, masks, everything, new=new)


def _new_schema(pair: Pair, layout: Layout, weight: str | None) -> tuple[Schema, list[str]]:
    taken = (layout.id, layout.label, layout.split_column)
    classes = classes_of(pair.node_file, pair.nodes[layout.label])
    told = label_notes(pair.nodes[layout.label], classes)
    columns, notes = choose_columns(pair.node_file, pair.nodes, layout, taken)
    told += label_copies(pair.nodes, [column.name for column in columns], str(layout.label))
    schema = Schema(
        kind="table",
        id=layout.id,
        label=layout.label,
        split_column=layout.split_column,
        source=layout.source,
        target=layout.target,
        weight=weight,
        missing=layout.missing,
        columns=columns,
        num_features=sum(column.width for column in columns),
        class_names=classes,
    )
    return schema, [*told, *notes]


def _layout_of(schema: Schema) -> Layout:
    categorical = [c.name for c in schema.columns if isinstance(c, CategoricalColumn)]
    words = [c.name for c in schema.columns if isinstance(c, WordsColumn)]
    return Layout(
        label=schema.label,
        id=schema.id,
        categorical=tuple(categorical),
        words=tuple(words),
        source=schema.source,
        target=schema.target,
        weight=schema.weight or NO_WEIGHT,
        missing=schema.missing,
    )


def _labels(pair: Pair, layout: Layout, schema: Schema) -> tuple[IntArray, tuple[str, ...]]:
    if layout.label is None:
        return np.full(len(pair.nodes), UNLABELLED, dtype=np.int64), ()
    return class_codes(pair.nodes[layout.label], schema.class_names)


def _of(columns: Sequence[str]) -> str:
    return f"its columns: {', '.join(list(columns)[:20])}"
