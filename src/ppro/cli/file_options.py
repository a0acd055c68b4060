"""Options with which a user names the files and columns of a graph of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.data.names import MAX_CATEGORIES
from ppro.errors import SettingsError

if TYPE_CHECKING:
    from ppro.data.files import FileSource, Reading

PANEL = "Your own graph"
Columns = Mapping[str, Any]
"""The values of the options that name columns, by the names of the options."""


def _option(flag: str, text: str, default: str | bool = False, **more: Any) -> Any:
    return typer.Option(flag, help=text, show_default=default, rich_help_panel=PANEL, **more)


def _name(flag: str, text: str, default: str | bool = False) -> Any:
    return Annotated[str | None, _option(flag, text, default)]


Nodes = Annotated[
    Path | None, _option("--nodes", "Table of nodes: .csv or .parquet.", readable=False)
]
Edges = Annotated[
    Path | None, _option("--edges", "Table of edges: .csv or .parquet.", readable=False)
]
_COLUMNS: dict[str, tuple[Any, Any]] = {
    "label": (_name("--label", "Column with the class of a node.", "label, class or y"), None),
    "id": (
        _name("--id", "Column with its id.", "id, node_id or node; else the row from 0"),
        None,
    ),
    "features": (
        _name("--features", "Feature columns, with commas between.", "all that fit"),
        None,
    ),
    "all_numeric": (
        Annotated[bool, _option("--all-numeric", "Every column of numbers is a feature.")],
        False,
    ),
    "categorical": (_name("--categorical", "Columns whose numbers are categories."), None),
    "split_column": (
        _name("--split-column", "Column with train, val, test or none.", "random split"),
        None,
    ),
    "source": (
        _name("--source", "Column with one end of an edge.", "source, src, from, u"),
        None,
    ),
    "target": (_name("--target", "Column with its other end.", "target, dst, to, v"), None),
    "weight": (_name("--weight", "Column with its weight.", "no weights"), None),
    "missing": (
        Annotated[
            str,
            _option(
                "--missing", "Missing features: mean (and a feature that says so) or error.", True
            ),
        ],
        "mean",
    ),
    "scale": (
        Annotated[
            str, _option("--scale", "Numbers: standard (mean 0, deviation 1) or none.", True)
        ],
        "standard",
    ),
    "max_categories": (
        Annotated[
            int,
            _option(
                "--max-categories",
                "Categories of a column; rarer ones share a feature.",
                True,
                min=1,
            ),
        ],
        MAX_CATEGORIES,
    ),
}


def takes_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name columns; it gets them as its argument ``columns``."""
    own = signature(command, eval_str=True)
    kept = [p for p in own.parameters.values() if p.name != "columns"]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in _COLUMNS.items()
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        columns = {name: values.pop(name) for name in _COLUMNS}
        command(**values, columns=columns)

    everything = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in kept] + more
    run.__signature__ = own.replace(parameters=everything)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in everything}
    return run


def file_source(
    name: str | None, nodes: Path | None, edges: Path | None, columns: Columns | None = None
) -> FileSource | None:
    """Return the files that a user means, or None for a graph of the catalogue.

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


def read_files(files: FileSource | None) -> Reading | None:
    """Read the files of a graph; None stays None."""
    from ppro.data.files import read_source

    return None if files is None else read_source(files)


def _layout(columns: Columns) -> Any:
    from pydantic import ValidationError

    from ppro.data.files import Layout

    values = dict(columns)
    if values.get("features") is not None and values.get("all_numeric"):
        raise SettingsError("--features and --all-numeric disagree; give one of them")
    for key in ("features", "categorical"):
        values[key] = _words(values.get(key))
    try:
        return Layout.model_validate({k: v for k, v in values.items() if v is not None})
    except ValidationError as error:
        problem = error.errors()[0]
        option = str(problem["loc"][0]).replace("_", "-")
        expected = problem["msg"].removeprefix("Input should be ")
        raise SettingsError(f"--{option} {problem['input']}: unknown; use {expected}") from None


def _words(text: str | None) -> tuple[str, ...] | None:
    """Return column names from a list with commas."""
    if text is None:
        return None
    return tuple(dict.fromkeys(name for name in map(str.strip, text.split(",")) if name))
