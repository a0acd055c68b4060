"""The folder of a large graph as a source like any file."""

from __future__ import annotations

from pathlib import Path

from ppro.data.files.edges import EdgeFacts
from ppro.data.files.reading import Reading
from ppro.data.files.schema import Schema
from ppro.data.large import META, is_large_folder, read_large
from ppro.errors import DataError


def read_folder(folder: Path, schema: Schema | None = None) -> Reading:
    """Read the folder of a large graph.

    Raises:
        DataError: it is damaged, or does not fit the schema of the training.
    """
    graph, masks = read_large(folder)
    found = Schema(kind="arrays", num_features=graph.num_features, class_names=graph.class_names)
    if schema is not None and schema != found:
        raise DataError(
            f"{folder}: {found.num_features} features and {len(found.class_names)} classes, but "
            f"the run was trained with {schema.num_features} and {len(schema.class_names)}; give a "
            "graph of the same kind"
        )
    facts = EdgeFacts(2 * graph.num_edges, 0, 0, graph.num_edges)
    return Reading(graph, found, masks, facts, ())


def signed_file(path: Path) -> Path:
    """The file whose hash stands for a source: of a large graph the one that lists the others."""
    return path / META if is_large_folder(path) else path
