"""``ppro data``: list, fetch and describe the benchmark graphs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from ppro.cli import console
from ppro.cli.options import DataRoot, Offline
from ppro.data import DATASETS, DatasetInfo, Statistics, dataset_info, describe, load_graph

app = typer.Typer(help="List, fetch and describe the benchmark graphs.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A graph of 'ppro data list'.")]


@app.command("list")
def list_datasets() -> None:
    """List the catalogue: sizes as stored here, splits, what to know."""
    table = Table("name", "nodes", "edges", "features", "classes", "splits", "licence")
    for info in DATASETS.values():
        sizes = _sizes(info.expected)
        table.add_row(info.name, *sizes, "\n".join(info.splits), info.licence)
    console.out.print(table)
    console.out.print(
        "cornell is the corrected graph; cornell-legacy is the file of most published tables, "
        "whose features and labels are Texas's.\n'ppro data describe NAME' tells more of each."
    )


def _sizes(sizes: Statistics | None) -> tuple[str, str, str, str]:
    if sizes is None:
        return ("set by options", "", "", "")
    return (f"{sizes.nodes:,}", f"{sizes.edges:,}", f"{sizes.features:,}", str(sizes.classes))


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Graphs to fetch.", show_default="all")
    ] = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Bring graphs to this machine, check their hashes and read them once."""
    for name in names or list(DATASETS):
        dataset_info(name)
    for name in names or list(DATASETS):
        graph = load_graph(name, data_root=data_root, offline=offline)
        console.out.print(f"{name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges: ready")


@app.command("describe")
def describe_dataset(name: Name, data_root: DataRoot = None, offline: Offline = False) -> None:
    """Describe a graph: sizes, degrees, homophily, source, licence and known defects."""
    info = dataset_info(name)
    facts = describe(load_graph(name, data_root=data_root, offline=offline))
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key, value in facts.items():
        table.add_row(key.replace("_", " "), _shown(value))
    for key, text in _background(info):
        table.add_row(key, text)
    console.out.print(table)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {count}" for key, count in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(str(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _background(info: DatasetInfo) -> list[tuple[str, str]]:
    rows = [("splits", ", ".join(info.splits)), ("licence", info.licence), ("cite", info.citation)]
    if info.paper is not None:
        sizes = _sizes(info.paper)
        rows.append(("in the paper", "{} nodes, {} edges, {} features, {} classes".format(*sizes)))
    rows += [("known defect", defect) for defect in info.known_defects]
    return rows
