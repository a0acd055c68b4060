"""Which files a graph is read from, and whether they are still those of the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ppro.data.files.archive import read_npz_arrays
from ppro.data.files.arrays import from_arrays
from ppro.data.files.edges import EdgeFacts
from ppro.data.files.graphml import read_graphml
from ppro.data.files.guard import check_file, sha256
from ppro.data.files.pair import read_pair
from ppro.data.files.reading import Reading
from ppro.data.files.saved import read_saved
from ppro.data.files.schema import NO_WEIGHT, Layout, Schema
from ppro.data.files.tables import is_table
from ppro.data.large import META, is_large_folder, read_large
from ppro.errors import DataError


def read_folder(folder: Path, schema: Schema | None = None) -> Reading:
    """Read the folder of a large graph."""
    graph, masks = read_large(folder)
    found = Schema(kind="arrays", num_features=graph.num_features, class_names=graph.class_names)
    if schema is not None and schema != found:
        raise DataError(
            f"{folder}: {found.num_features} features and {len(found.class_names)} classes, but "
            f"the run was trained with {schema.num_features} and {len(schema.class_names)}; give a "
            "graph of the same kind"
        )
    facts = EdgeFacts(2 * graph.num_edges, 0, 0, graph.num_edges, graph.num_edges)
    return Reading(graph, found, masks, facts, ())


def signed_file(path: Path) -> Path:
    """The file whose hash stands for a source: of a large graph the one that lists the others."""
    return path / META if is_large_folder(path) else path


SUFFIXES = (".npz", ".graphml", ".safetensors")
"""Kinds of files that hold a whole graph."""


class FileSource(BaseModel):
    """The files of a graph: a table of nodes and one of edges, or a single file.

    Args:
        nodes: the table of nodes.
        edges: the table of edges.
        graph: the single file.
        layout: which columns to take.
        sha256: the hash of each file at the time of the training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: str | None = None
    edges: str | None = None
    graph: str | None = None
    layout: Layout = Layout()
    sha256: dict[str, str] = Field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Return the files."""
        return tuple(Path(path) for path in (self.nodes, self.edges, self.graph) if path)

    def signed(self) -> FileSource:
        """Return the same files by absolute path, with their hashes."""
        absolute = {
            key: str(Path(path).absolute())
            for key, path in (("nodes", self.nodes), ("edges", self.edges), ("graph", self.graph))
            if path
        }
        hashes = {path: sha256(signed_file(Path(path))) for path in absolute.values()}
        return self.model_copy(update={**absolute, "sha256": hashes})

    def weighted_as(self, schema: Schema | None) -> FileSource:
        """Return the same files with the weights that a training took from them.

        Older versions left a column ``weight`` alone unless it was named.
        """
        if schema is None or schema.kind != "table":
            return self
        layout = self.layout.model_copy(update={"weight": schema.weight or NO_WEIGHT})
        return self.model_copy(update={"layout": layout})

    def moved_from(self, trained: FileSource) -> FileSource | None:
        """Return the source of a training with these paths, where the files are the very same."""
        known = trained.sha256
        for mine, old in zip(self._places(), trained._places(), strict=True):
            if (mine is None) != (old is None):
                return None
            if mine is not None and old is not None:
                file = signed_file(Path(mine))
                check_file(file)
                if known.get(old) != sha256(file):
                    return None
        update: dict[str, Any] = {
            "nodes": self.nodes,
            "edges": self.edges,
            "graph": self.graph,
            "sha256": {},
        }
        return trained.model_copy(update=update)

    def _places(self) -> tuple[str | None, str | None, str | None]:
        return self.nodes, self.edges, self.graph

    def changed(self) -> list[str]:
        """Return the files that are not what they were when they were signed."""
        files = {path: signed_file(Path(path)) for path in self.sha256}
        for file in files.values():
            if not file.exists():
                new = (
                    "give it as GRAPH" if self.graph else "name the files with --nodes and --edges"
                )
                raise DataError(f"{file}: No such file or directory; if it has moved, {new}")
            check_file(file)
        return [path for path, known in self.sha256.items() if sha256(files[path]) != known]


def looks_like_file(name: str) -> bool:
    """Tell whether a word on the command line means a file and not a graph of the catalogue."""
    path = Path(name)
    return path.suffix.lower() in SUFFIXES or is_table(path) or len(path.parts) > 1 or path.exists()


def read_source(source: FileSource, schema: Schema | None = None) -> Reading:
    """Read a graph from files.

    Args:
        schema: that of a training, to be applied to these files; None makes a new one.

    Raises:
        DataError: a file is missing, broken, or does not fit the schema.
    """
    if source.graph:
        return _read_single(Path(source.graph), source.layout, schema)
    if not source.nodes or not source.edges:
        given, other = ("--nodes", "--edges") if source.nodes else ("--edges", "--nodes")
        raise DataError(f"{given} alone is half a graph; give {other} too")
    if schema is not None and schema.kind != "table":
        raise DataError(
            f"{source.nodes}: the run was trained on arrays without column names; give a file of "
            "the same kind"
        )
    return read_pair(Path(source.nodes), Path(source.edges), source.layout, schema)


def _read_single(path: Path, layout: Layout, schema: Schema | None) -> Reading:
    if is_large_folder(path):
        return read_folder(path, schema)
    suffix = path.suffix.lower()
    if suffix == ".graphml":
        if schema is not None and schema.kind != "table":
            raise DataError(f"{path}: the run was trained on arrays; give a file of the same kind")
        return read_graphml(path, layout, schema)
    if suffix == ".npz":
        return from_arrays(path, read_npz_arrays(path), schema)
    if suffix == ".safetensors":
        return read_saved(path, schema)
    if is_table(path):
        raise DataError(f"{path}: a table alone is half a graph; use --nodes and --edges")
    raise DataError(f"{path}: unknown kind of file; PPro reads {', '.join(SUFFIXES)} and tables")
