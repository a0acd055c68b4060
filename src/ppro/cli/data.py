"""``ppro data``: list, fetch and describe the benchmark graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppro.cli import console
from ppro.cli.options import DataRoot, GraphOptions, Offline, graph_options
from ppro.data import (
    DATASETS,
    DatasetInfo,
    Statistics,
    dataset_info,
    describe,
    load_graph,
    make_splits,
)
from ppro.data.names import RANDOM

app = typer.Typer(help="List, fetch and describe the benchmark graphs.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A graph of 'ppro data list'.")]


@app.command("list")
def list_datasets() -> None:
    """List the catalogue: sizes as stored here, and splits, the default first."""
    rows = [("name", "nodes", "edges", "features", "classes", "splits")]
    for info in DATASETS.values():
        sizes = _sizes(info.expected) if info.expected else ("-", "-", "-", "-")
        first, *others = info.splits
        rows.append((info.name, *sizes, first))
        rows += [("", "", "", "", "", split) for split in others]
    console.out.print(console.aligned(rows, right=(1, 2, 3, 4)))
    console.out.print()
    console.out.print(console.paragraph(console.CORNELL))
    console.out.print(console.paragraph("digits and csbm are made on the spot: no download."))
    console.out.print("'ppro data describe NAME' tells more of each.")


def _sizes(sizes: Statistics) -> tuple[str, str, str, str]:
    return (f"{sizes.nodes:,}", f"{sizes.edges:,}", f"{sizes.features:,}", str(sizes.classes))


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Graphs to fetch.", show_default="all")
    ] = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Bring graphs and their splits to this machine, check their hashes and read them once."""
    wanted = [dataset_info(name) for name in names or DATASETS]
    for info in wanted:
        console.out.print(_fetched(info, data_root, offline))


def _fetched(info: DatasetInfo, data_root: Path | None, offline: bool) -> str:
    graph = load_graph(info.name, data_root=data_root, offline=offline)
    for split in info.splits:
        if split != RANDOM:
            make_splits(graph, info.name, split, 1, 0, data_root=data_root, offline=offline)
    return f"{info.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges: ready"


@app.command("describe")
def describe_dataset(
    name: Name,
    option: GraphOptions = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Describe a graph: sizes, degrees, homophily, splits, licence and known defects."""
    info = dataset_info(name)
    options = graph_options(option)
    facts = describe(load_graph(name, data_root=data_root, offline=offline, options=options))
    rows = [(key.replace("_", " "), _shown(value)) for key, value in facts.items()]
    console.out.print(console.fields(rows + _background(info)))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {count}" for key, count in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _background(info: DatasetInfo) -> list[tuple[str, str]]:
    rows = [("splits", ", ".join(info.splits)), ("licence", info.licence), ("cite", info.citation)]
    if info.options:
        rows.append(("options", ", ".join(f"{k}={v:g}" for k, v in info.options.items())))
    if info.paper is not None:
        sizes = _sizes(info.paper)
        rows.append(("in the paper", "{} nodes, {} edges, {} features, {} classes".format(*sizes)))
    rows += [("known defect", defect) for defect in info.known_defects]
    if info.name.startswith("cornell"):
        rows.append(("note", console.CORNELL))
    return rows
