"""Tables where the estimator takes a graph: read by their own schema, or by that of a model."""

from typing import Any

from ppro.data.files import Schema, Tables
from ppro.data.files.python import as_masked
from ppro.errors import DataError
from ppro.graph.core import Graph


def of_tables(source: Any, schema: Schema | None = None, *, y: Any = None) -> Any:
    """Return the graph of some tables; any other source stays as it is.

    Args:
        schema: that of the model which is to be applied; None where one is to be fitted.
        y: labels beside those of the tables, which are refused.
    """
    if not isinstance(source, Tables):
        return source
    if y is not None:
        raise DataError("labels of tables are in a column of the nodes; name it and leave y out")
    return source.graph if schema is None else as_masked(source.read(schema))


def schema_of(source: Any, graph: Graph) -> Schema:
    """Return what a model that was fitted to a source asks of another graph."""
    if isinstance(source, Tables):
        return source.schema
    return Schema(kind="arrays", num_features=graph.num_features, class_names=graph.class_names)
