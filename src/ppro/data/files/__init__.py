"""Graphs of one's own: tables, npz, GraphML and safetensors in, tables and safetensors out."""

from __future__ import annotations

from ppro.data.files.reading import GIVEN, Reading, file_splits, predict_only
from ppro.data.files.saved import save_graph
from ppro.data.files.schema import Layout, Schema, read_schema, write_schema
from ppro.data.files.source import FileSource, looks_like_file, read_source

__all__ = [
    "GIVEN",
    "FileSource",
    "Layout",
    "Reading",
    "Schema",
    "file_splits",
    "looks_like_file",
    "predict_only",
    "read_schema",
    "read_source",
    "save_graph",
    "write_schema",
]
