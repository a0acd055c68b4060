"""Options with which a user names the files and columns of a graph of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from ppro.data.files import FileSource, Layout, looks_like_file
from ppro.data.files.schema import MAX_CATEGORIES
from ppro.errors import SettingsError

PANEL = "Your own graph"


def _option(flag: str, text: str, default: str | bool = False, **more: Any) -> Any:
    return typer.Option(flag, help=text, show_default=default, rich_help_panel=PANEL, **more)


Nodes = Annotated[
    Path | None, _option("--nodes", "Table of nodes: .csv or .parquet.", readable=False)
]
Edges = Annotated[
    Path | None, _option("--edges", "Table of edges: .csv or .parquet.", readable=False)
]
Label = Annotated[
    str | None, _option("--label", "Column with the class of a node.", "label, class or y")
]
Id = Annotated[
    str | None, _option("--id", "Column with its id.", "id, node_id or node; else the row from 0")
]
FeatureColumns = Annotated[
    str | None, _option("--features", "Feature columns, with commas between.", "all that fit")
]
AllNumeric = Annotated[bool, _option("--all-numeric", "Every column of numbers is a feature.")]
Categorical = Annotated[
    str | None, _option("--categorical", "Columns whose numbers are categories.")
]
SplitColumn = Annotated[
    str | None, _option("--split-column", "Column with train, val, test or none.", "random split")
]
Source = Annotated[
    str | None, _option("--source", "Column with one end of an edge.", "source, src, from, u")
]
Target = Annotated[
    str | None, _option("--target", "Column with its other end.", "target, dst, to, v")
]
Weight = Annotated[str | None, _option("--weight", "Column with its weight.", "no weights")]
Missing = Annotated[
    str, _option("--missing", "Missing features: mean (and a feature that says so) or error.", True)
]
Scale = Annotated[str, _option("--scale", "Numbers: standard (mean 0, deviation 1) or none.", True)]
MaxCategories = Annotated[
    int,
    _option("--max-categories", "Categories of a column; rarer ones share a feature.", True, min=1),
]


def words(text: str | None) -> tuple[str, ...] | None:
    """Column names from a list with commas."""
    if text is None:
        return None
    return tuple(dict.fromkeys(name for name in map(str.strip, text.split(",")) if name))


_COLUMNS: dict[str, tuple[Any, Any]] = {
    "label": (Label, None),
    "id": (Id, None),
    "features": (FeatureColumns, None),
    "all_numeric": (AllNumeric, False),
    "categorical": (Categorical, None),
    "split_column": (SplitColumn, None),
    "source": (Source, None),
    "target": (Target, None),
    "weight": (Weight, None),
    "missing": (Missing, "mean"),
    "scale": (Scale, "standard"),
    "max_categories": (MaxCategories, MAX_CATEGORIES),
}


def takes_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name columns; it gets them as its argument ``layout``."""
    own = signature(command, eval_str=True)
    kept = [p for p in own.parameters.values() if p.name != "layout"]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in _COLUMNS.items()
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        columns = {name: values.pop(name) for name in _COLUMNS}
        command(**values, layout=layout_from(**columns))

    everything = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in kept] + more
    run.__signature__ = own.replace(parameters=everything)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in everything}
    return run


def layout_from(**columns: Any) -> Layout:
    """A layout from the values of options.

    Raises:
        SettingsError: a value is out of range or two options disagree.
    """
    if columns.get("features") is not None and columns.get("all_numeric"):
        raise SettingsError("--features and --all-numeric disagree; give one of them")
    for key in ("features", "categorical"):
        columns[key] = words(columns.get(key))
    try:
        return Layout.model_validate({k: v for k, v in columns.items() if v is not None})
    except ValidationError as error:
        problem = error.errors()[0]
        option = str(problem["loc"][0]).replace("_", "-")
        expected = problem["msg"].removeprefix("Input should be ")
        raise SettingsError(f"--{option} {problem['input']}: unknown; use {expected}") from None


def file_source(
    name: str | None, nodes: Path | None, edges: Path | None, layout: Layout
) -> FileSource | None:
    """The files that a user means, or None for a graph of the catalogue.

    Raises:
        SettingsError: both or neither are named, or columns of a graph of the catalogue.
    """
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
