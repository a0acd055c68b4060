"""Graphs of one's own: tables, npz, GraphML and safetensors in, tables and safetensors out.

``source`` says which files a graph is read from and hands them to their reader; ``schema`` says how
tables are to be read and how they became a graph; ``reading`` is what every reader returns.
``pair`` reads a table of nodes and one of edges: ``tables``, ``csv_tables`` and ``parquet_tables``
read them, ``columns`` chooses those that become features and ``encoding`` makes these, by
``cells``, ``written_numbers`` and ``words``; ``ids``, ``labels`` and ``edges`` do the rest.
``python`` gives tables to the estimator. ``archive`` and ``arrays`` read npz files, ``graphml``
GraphML and ``saved`` safetensors. ``guard`` refuses files that are not what they seem, ``findings``
tells what looks wrong, ``export`` writes tables. No file is ever executed.
"""

from typing import TYPE_CHECKING

from ppro.parts.lazy import lazy

if TYPE_CHECKING:
    from ppro.data.files.python import Tables, read_tables
    from ppro.data.files.reading import Reading, file_splits, predict_only
    from ppro.data.files.saved import save_graph
    from ppro.data.files.schema import Layout, Schema, read_schema, write_schema
    from ppro.data.files.source import FileSource, looks_like_file, read_source

__all__ = [
    "FileSource",
    "Layout",
    "Reading",
    "Schema",
    "Tables",
    "file_splits",
    "looks_like_file",
    "predict_only",
    "read_schema",
    "read_source",
    "read_tables",
    "save_graph",
    "write_schema",
]

__getattr__ = lazy(
    __name__,
    {
        "ppro.data.files.python": ("Tables", "read_tables"),
        "ppro.data.files.reading": ("Reading", "file_splits", "predict_only"),
        "ppro.data.files.saved": ("save_graph",),
        "ppro.data.files.schema": ("Layout", "Schema", "read_schema", "write_schema"),
        "ppro.data.files.source": ("FileSource", "looks_like_file", "read_source"),
    },
)
