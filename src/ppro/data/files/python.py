"""Tables as a graph in Python: from paths or pandas frames, with the schema of a training."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from ppro.data.files.findings import findings
from ppro.data.files.pair import read_pair
from ppro.data.files.reading import Reading
from ppro.data.files.schema import Layout, Schema
from ppro.data.files.tables import FileTable, FrameTable, Table
from ppro.errors import DataError, SettingsError
from ppro.graph.core import Graph

NAME = "tables"
"""What a graph from pandas frames is called unless the user names it."""


@dataclass(frozen=True, eq=False)
class MaskedGraph(Graph):
    """A graph with the masks that its files state, by PyTorch Geometric's names. ``[1, n]``."""

    masks: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Tables:
    """A table of nodes and one of edges, read when they are needed; see :func:`read_tables`.

    A model that is to be applied to them reads them by the schema of its own training.
    """

    nodes: Table
    edges: Table
    layout: Layout
    name: str | None = None

    @cached_property
    def reading(self) -> Reading:
        """What the tables hold, with a schema of their own, which needs a label column."""
        return self.read()

    @property
    def graph(self) -> Graph:
        """The graph, with features as a training would see them."""
        return as_masked(self.reading)

    @property
    def schema(self) -> Schema:
        """How columns become features."""
        return self.reading.schema

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the data that a user should know of."""
        return self.reading.notes

    def findings(self) -> list[str]:
        """Return what looks odd, one line each, as ``ppro data describe`` shows it."""
        return findings(self.reading)

    def read(self, schema: Schema | None = None) -> Reading:
        """Return what the tables hold.

        Args:
            schema: that of a training, to be applied; labels are not needed then.

        Raises:
            DataError: something is wrong with the tables, or they do not fit the schema.
        """
        if schema is not None and schema.kind != "table":
            raise DataError(
                "the model was trained on features without column names; give it a graph of the "
                "same kind, or train on ppro.read_tables"
            )
        found = read_pair(self.nodes, self.edges, self.layout, schema)
        return found if self.name is None else _renamed(found, self.name)


def read_tables(nodes: Any, edges: Any, *, name: str | None = None, **columns: Any) -> Tables:
    """Return a graph in two tables, for :class:`ppro.PPro` to fit or to predict.

    What is done to the columns is what ``ppro train --nodes --edges`` does. It is kept with the
    model, also in a folder that it is saved to, and is applied to the tables that it predicts:
    ``ppro.load(run).predict(ppro.read_tables(new_nodes, new_edges))``.

    Args:
        nodes: one row per node: a path to a CSV or Parquet file, or a pandas DataFrame (or what
            has a method ``to_pandas``).
        edges: one row per edge, likewise.
        name: of the graph; by default that of the file.
        columns: the options of ``ppro train``: ``label``, ``id``, ``features``, ``add_features``,
            ``all_numeric``, ``categorical``, ``words``, ``split_column``, ``source``, ``target``,
            ``weight``, ``missing``, ``scale``, ``max_categories``, ``max_words``.

    Raises:
        SettingsError: an option is unknown or out of range.
    """
    first, second = _table(nodes, "nodes"), _table(edges, "edges")
    if name is None and isinstance(first, FrameTable):
        name = NAME
    return Tables(first, second, _layout(columns), name)


def as_masked(reading: Reading) -> Graph:
    """Return the graph of a reading with the masks that its files state."""
    found, graph = reading.masks, reading.graph
    if found is None:
        return graph
    parts = {"train_mask": found.train, "val_mask": found.val, "test_mask": found.test}
    masks = {key: torch.from_numpy(mask) for key, mask in parts.items()}
    values = {field_.name: getattr(graph, field_.name) for field_ in fields(Graph)}
    return MaskedGraph(**values, masks=masks)


def _renamed(reading: Reading, name: str) -> Reading:
    return replace(reading, graph=replace(reading.graph, name=name))


def _table(source: Any, what: str) -> Table:
    if isinstance(source, str | os.PathLike):
        return FileTable(Path(source))
    if not hasattr(source, "iloc") and hasattr(source, "to_pandas"):
        source = source.to_pandas()
    if not hasattr(source, "iloc") or not hasattr(source, "columns"):
        raise DataError(
            f"{what}: {type(source).__name__} is no table; give a path or a pandas DataFrame"
        )
    return FrameTable(Path(f"the table of {what}"), source)


def _layout(columns: dict[str, Any]) -> Layout:
    lists = {"features", "add_features", "categorical", "words"}
    for key in lists & columns.keys():
        given = columns[key]
        if isinstance(given, str):
            columns[key] = (given,)
        elif isinstance(given, Iterable):
            columns[key] = tuple(given)
    try:
        return Layout.model_validate({k: v for k, v in columns.items() if v is not None})
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        known = ", ".join(Layout.model_fields)
        raise SettingsError(f"{where}: {problem['msg']}; the options are {known}") from None
