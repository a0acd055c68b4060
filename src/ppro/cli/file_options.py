"""The graph that a user names: one of the catalogue, or files and columns of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.options import (
    DataRoot,
    GraphOptions,
    Offline,
    Options,
    Threads,
    graph_options,
    taking,
)
from ppro.data.names import MAX_CATEGORIES, MAX_WORDS
from ppro.errors import RunError, SettingsError

if TYPE_CHECKING:
    from ppro.data.files import FileSource, Layout, Reading
    from ppro.graph.core import Graph

PANEL = "Your own graph"


@dataclass(frozen=True)
class GivenRun:
    """What the options of a command say of a saved run, and of the graph that it is applied to.

    Args:
        index: of the run among those of its folder; None for the best one.
        threads: CPU cores to use, or None.
        graph: where it lies, as :func:`ppro.runs.source.graph_of_run` takes it.
    """

    index: int | None
    threads: int | None
    graph: Mapping[str, Any]


@dataclass(frozen=True)
class GivenGraph:
    """What the options of a command say of its graph.

    Args:
        name: of the dataset, or that of the user's files.
        options: of a generated graph, or of any.
        files: the user's own, or None for a graph of the catalogue.
        reading: what they hold.
        where: where raw files are looked for: ``data_root`` and ``offline``.
    """

    name: str
    options: dict[str, float]
    files: FileSource | None
    reading: Reading | None
    where: Mapping[str, Any]

    def load(self) -> Graph:
        """Return the graph."""
        from ppro.data import load_graph
        from ppro.data.noise import with_options

        if self.reading is not None:
            return with_options(self.reading.graph, self.options)
        return load_graph(self.name, options=self.options, **self.where)


def _option(key: str, text: str, shown: str | bool, **more: Any) -> Any:
    flag = f"--{key.replace('_', '-')}"
    return typer.Option(flag, help=text, show_default=shown, rich_help_panel=PANEL, **more)


_TABLES: Options = {
    key: (Annotated[Path | None, _option(key, text, False, readable=False)], None)
    for key, text in (
        ("nodes", "Table of nodes: .csv, .csv.gz or .parquet."),
        ("edges", "Table of edges: .csv, .csv.gz or .parquet."),
    )
}
_PLACE: Options = {"data_root": (DataRoot, None), "offline": (Offline, False)}
_OF_RUN: Options = {
    "graph_file": (
        Annotated[
            str | None,
            typer.Argument(
                metavar="[GRAPH]",
                help="Another graph in a file, or that of the training where it has moved: .npz, "
                ".graphml or .safetensors.",
                show_default="the graph of the training",
            ),
        ],
        None,
    ),
    "index": (
        Annotated[
            int | None,
            typer.Option(
                "--run", min=0, help="Which of the runs.", show_default="best validation score"
            ),
        ],
        None,
    ),
    **_PLACE,
    "threads": (Threads, None),
    **_TABLES,
}
_NAMED: dict[str, tuple[str, str | bool]] = {
    "label": ("Column with the class of a node.", "label, class or y"),
    "id": (
        "Column with its id.",
        "id, node_id or node, or what the edges name; else the row from 0",
    ),
    "features": ("The only feature columns, with commas between.", "all that fit"),
    "add_features": ("More feature columns than those that fit.", False),
    "words": ("Columns of text whose words are features.", False),
    "categorical": ("Columns whose numbers are categories.", False),
    "split_column": ("Column with train, val, test or none.", "random split"),
    "source": ("Column with one end of an edge.", "source, src, from, u"),
    "target": ("Column with its other end.", "target, dst, to, v"),
    "weight": ("Column with its weight, or none.", "weight, where there is one"),
}
_CHOSEN = {
    "all_numeric": (bool, False, "Every column of numbers is a feature."),
    "missing": (str, "mean", "Missing features: mean (and a feature that says so) or error."),
    "scale": (str, "standard", "Numbers: standard (mean 0, deviation 1) or none."),
    "max_categories": (int, MAX_CATEGORIES, "Most categories of a column; rarer ones share one."),
    "max_words": (int, MAX_WORDS, "Most words of a column of --words, the most frequent."),
}
_OF_GRAPH: Options = {
    "dataset": (
        Annotated[
            str | None,
            typer.Argument(
                help="A graph of 'ppro data list', a file (.npz, .graphml, .safetensors), or a "
                "folder of 'ppro data generate'.",
                show_default=False,
            ),
        ],
        None,
    ),
    "option": (GraphOptions, None),
    **_PLACE,
    **_TABLES,
    **{key: (Annotated[str | None, _option(key, *told)], None) for key, told in _NAMED.items()},
    **{
        key: (Annotated[kind, _option(key, text, kind is not bool)], default)
        for key, (kind, default, text) in _CHOSEN.items()
    },
}


def _given(
    dataset: str | None,
    option: list[str] | None,
    data_root: Path | None,
    offline: bool,
    nodes: Path | None,
    edges: Path | None,
    **columns: Any,
) -> GivenGraph:
    from ppro.data.catalog import dataset_info
    from ppro.data.files import read_source
    from ppro.data.options import checked_options

    files = file_source(dataset, nodes, edges, columns)
    reading = None if files is None else read_source(files)
    name = str(dataset) if reading is None else reading.graph.name
    info = dataset_info(name) if reading is None else None
    options = checked_options(name, graph_options(option), info)
    where = {"data_root": data_root, "offline": offline}
    return GivenGraph(name, options, files, reading, where)


def file_source(
    name: str | None,
    nodes: Path | None,
    edges: Path | None,
    columns: Mapping[str, Any] | None = None,
) -> FileSource | None:
    """Return the files that a user means, or None for a graph of the catalogue.

    Args:
        columns: the values of the options that name columns.

    Raises:
        SettingsError: both or neither are named, columns of a graph of the catalogue, or a value
            is out of range.
    """
    from ppro.data.files import FileSource, Layout, looks_like_file

    layout = _layout(columns or {})
    tables = nodes is not None or edges is not None
    if name is None and not tables:
        raise SettingsError(
            "no graph given; name one of 'ppro data list' or a file, or use --nodes and --edges"
        )
    if name is not None and tables:
        raise SettingsError(f"{name} and --nodes or --edges: two graphs; give one of them")
    if name is not None and not looks_like_file(name):
        if layout != Layout():
            raise SettingsError(
                f"{name} is of the catalogue and has no columns; leave those options out"
            )
        return None
    first, second = (None if path is None else str(path) for path in (nodes, edges))
    return FileSource(nodes=first, edges=second, graph=name, layout=layout)


def check_not_read(option: str, out: Path | None, read: Sequence[FileSource | Path | None]) -> None:
    """Refuse to write over a file that is read.

    Args:
        option: that names the file.
        out: the file to write, if any.
        read: files, or sources of graphs.
    """
    files = [
        path
        for given in read
        if given is not None
        for path in ((given,) if isinstance(given, Path) else given.paths)
    ]
    for file in files:
        if out is not None and out.exists() and file.exists() and out.samefile(file):
            raise RunError(f"{option} {out}: is read here, and would be lost; name another file")


def _given_run(
    graph_file: str | None,
    index: int | None,
    data_root: Path | None,
    offline: bool,
    threads: int | None,
    nodes: Path | None,
    edges: Path | None,
) -> GivenRun:
    given = graph_file is not None or nodes is not None or edges is not None
    new = file_source(graph_file, nodes, edges) if given else None
    if given and new is None:
        raise SettingsError(
            f"{graph_file}: no such file; give the new graph in a file, or leave it out for that "
            "of the training"
        )
    where = {"data_root": data_root, "offline": offline, "tell": console.err.print}
    return GivenRun(index, threads, {"new": new, **where})


def _layout(columns: Mapping[str, Any]) -> Layout:
    from pydantic import ValidationError

    from ppro.data.files import Layout

    values = dict(columns)
    if values.get("features") is not None and values.get("all_numeric"):
        raise SettingsError("--features and --all-numeric disagree; give one of them")
    for key in ("features", "add_features", "categorical", "words"):
        if (text := values.get(key)) is not None:
            names = map(str.strip, text.split(","))
            values[key] = tuple(dict.fromkeys(name for name in names if name))
    try:
        return Layout.model_validate({k: v for k, v in values.items() if v is not None})
    except ValidationError as error:
        problem = error.errors()[0]
        option = str(problem["loc"][0]).replace("_", "-")
        expected = problem["msg"].removeprefix("Input should be ")
        raise SettingsError(f"--{option} {problem['input']}: unknown; use {expected}") from None


takes_graph = taking("graph", _OF_GRAPH, _given)
"""Gives a command the options that name a graph; it gets them as its argument ``graph``."""
takes_run = taking("given", _OF_RUN, _given_run)
"""Gives a command the options of what applies a saved run; it gets them as ``given``."""
