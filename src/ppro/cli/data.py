"""``ppro data``: list, fetch and export the benchmark graphs; describe any graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.file_options import GivenGraph, takes_graph
from ppro.cli.options import DataRoot, GraphOptions, Offline, graph_options, shown
from ppro.data.catalog import DATASETS, PAPERS, dataset_info
from ppro.data.large.plan import LargePlan
from ppro.data.names import is_drawn
from ppro.data.records import DatasetInfo, Statistics
from ppro.errors import DataError

if TYPE_CHECKING:
    from ppro.data.files import Reading
    from ppro.graph.core import Graph

SHOWN_COLUMNS = 12
SHOWN_CLASSES = 100
_PLAN = LargePlan()

app = typer.Typer(
    help="List, fetch and export the benchmark graphs; describe any graph.", no_args_is_help=True
)

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
    for note in dict.fromkeys(info.note for info in DATASETS.values() if info.note):
        console.out.print(console.paragraph(note))
    *made, last = (info.name for info in DATASETS.values() if info.generator)
    listed = f"{', '.join(made)} and {last} are made on the spot: no download."
    console.out.print(console.paragraph(listed))
    any_graph = "--option noise=S gives a share S of the nodes of any graph random edges."
    console.out.print(console.paragraph(any_graph))
    few = "Any graph can also be split as N-per-class, such as 20-per-class: N nodes a class train."
    console.out.print(console.paragraph(few))
    console.out.print("'ppro data describe NAME' tells more of each.")


def _sizes(sizes: Statistics) -> tuple[str, str, str, str]:
    return (f"{sizes.nodes:,}", f"{sizes.edges:,}", f"{sizes.features:,}", str(sizes.classes))


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Graphs to fetch.", show_default="the paper's")
    ] = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Bring graphs and their splits to this machine, check their hashes and read them once.

    [bold]Examples[/bold]

      ppro data fetch

      ppro data fetch cora citeseer pubmed

      ppro data fetch cora --data-root raw --offline
    """
    wanted = [dataset_info(name) for name in names or PAPERS]
    for info in wanted:
        console.out.print(_fetched(info, data_root, offline))


def _fetched(info: DatasetInfo, data_root: Path | None, offline: bool) -> str:
    from ppro.data import load_graph, make_splits

    graph = load_graph(info.name, data_root=data_root, offline=offline)
    for split in info.splits:
        if not is_drawn(split):
            make_splits(graph, info.name, split, 1, 0, data_root=data_root, offline=offline)
    return f"{info.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges: ready"


@app.command("describe")
@takes_graph
def describe_dataset(*, graph: GivenGraph) -> None:
    """Describe a graph: sizes, degrees, homophily, what looks wrong and what is done about it.

    [bold]Examples[/bold]

      ppro data describe cornell

      ppro data describe csbm --option homophily=0.2

      ppro data describe --nodes nodes.csv --edges edges.csv --label topic
    """
    if graph.reading is None:
        background = _background(dataset_info(graph.name))
    else:
        background = _about_files(graph.reading)
    console.out.print(console.fields(_facts(graph.load()) + background))


def _facts(graph: Graph) -> list[tuple[str, str]]:
    from ppro.data import describe

    return [(key.replace("_", " "), _shown(value)) for key, value in describe(graph).items()]


def _about_files(reading: Reading) -> list[tuple[str, str]]:
    from ppro.data.files.findings import findings

    columns = [f"{c.name} ({c.kind})" for c in reading.schema.columns]
    shown = ", ".join(columns[:SHOWN_COLUMNS])
    if len(columns) > SHOWN_COLUMNS:
        shown += f" and {len(columns) - SHOWN_COLUMNS:,} more"
    rows = [("feature columns", shown)] if columns else []
    rows += [("edges listed", f"{reading.edges.listed:,}"), ("splits", ", ".join(reading.splits))]
    found = findings(reading)
    return rows + ([("finding", text) for text in found] or [("finding", "nothing odd")])


@app.command("export")
def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder for nodes.csv and edges.csv; made if need be.")],
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write nodes.parquet and edges.parquet.")
    ] = False,
    split: Annotated[
        str | None,
        shown("Add the column 'part' with this split.", "no such column"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of a random split.")] = 0,
    option: GraphOptions = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Write a graph of the catalogue as tables that 'ppro train --nodes --edges' reads."""
    from ppro.data import load_graph, make_splits
    from ppro.data.files.export import export_graph
    from ppro.files import whole_file

    where: Any = {"data_root": data_root, "offline": offline}
    graph = load_graph(name, options=graph_options(option), **where)
    splits = None if split is None else make_splits(graph, name, split, 1, seed, **where)
    suffix = "parquet" if parquet else "csv"
    paths = [out / f"{part}.{suffix}" for part in ("nodes", "edges")]
    for path in paths:
        if path.exists():
            raise DataError(f"{path}: already exists; choose another --out or remove it")
    with console.writing(out), whole_file(paths[0]) as nodes, whole_file(paths[1]) as edges:
        export_graph(graph, nodes, edges, splits, kind=suffix)
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    console.out.print(f"{size}: written to {paths[0]} and {paths[1]}")


@app.command("page")
def page(
    out: Annotated[Path, typer.Option(help="Markdown file to write.", readable=False)],
) -> None:
    """Write the catalogue as a page: sizes, splits, sources, licences and known defects."""
    from ppro.data.page import markdown

    console.write(out, markdown())
    console.out.print(f"{len(DATASETS)} graphs: written to {out}")


@app.command("generate")
def generate(
    out: Annotated[Path, typer.Argument(help="Folder to write; made if need be.", readable=False)],
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = _PLAN.nodes,
    degree: Annotated[float, typer.Option(help="Mean number of neighbours.")] = _PLAN.degree,
    homophily: Annotated[
        float, typer.Option(help="Share of the edges within a class.")
    ] = _PLAN.homophily,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = _PLAN.classes,
    features: Annotated[int, typer.Option(help="Number of features.")] = _PLAN.features,
    signal: Annotated[
        float, typer.Option(help="How far class centres lie from 0; the noise has deviation 1.")
    ] = _PLAN.signal,
    train: Annotated[float, typer.Option(help="Share of the nodes that train.")] = _PLAN.train,
    val: Annotated[
        float, typer.Option(help="Share that validates; the rest is for testing.")
    ] = _PLAN.val,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = _PLAN.seed,
) -> None:
    """Generate a graph with heavy-tailed degrees, communities and classes, features on disk.

    [bold]Example[/bold]

      ppro data generate big --nodes 1000000 && ppro train big --set form=class --runs 1
    """
    from ppro.data.large import generate_large
    from ppro.files import is_taken, whole_folder

    plan = LargePlan(nodes, degree, homophily, classes, features, signal, train, val, seed)
    plan.check()
    if is_taken(out):
        raise DataError(f"{out}: already exists; choose another or remove it")
    with console.writing(out, "folder"), whole_folder(out) as folder:
        made = generate_large(folder, plan)
    size = f"{made.nodes:,} nodes, {made.entries // 2:,} edges"
    console.out.print(f"{size}, {sum(made.bytes.values()) / 2**30:.2f} GiB: written to {out}")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return _counts(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _counts(counts: dict[str, int]) -> str:
    """Return the classes with their nodes; of very many the largest, and how many more."""
    shown, rest = list(counts.items()), ""
    if len(shown) > SHOWN_CLASSES:
        shown.sort(key=lambda pair: -pair[1])
        most, least = shown[SHOWN_CLASSES][1], shown[-1][1]
        of = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rest = f" and {len(shown) - SHOWN_CLASSES:,} more classes, each of {of} nodes"
    return ", ".join(f"{_plain(key)}: {count:,}" for key, count in shown[:SHOWN_CLASSES]) + rest


def _plain(name: str) -> str:
    """Return a name from a file, with nothing in it that a terminal would obey."""
    return name if name.isprintable() else repr(name)


def _background(info: DatasetInfo) -> list[tuple[str, str]]:
    rows = [
        ("kind", info.kind),
        ("splits", ", ".join(info.splits)),
        ("metric", info.metric),
        ("licence", info.licence),
        ("cite", info.citation),
    ]
    if info.options:
        rows.append(("options", ", ".join(f"{k}={v}" for k, v in info.defaults.items())))
    if info.paper is not None:
        sizes = _sizes(info.paper)
        rows.append(("in the paper", "{} nodes, {} edges, {} features, {} classes".format(*sizes)))
    rows += [("known defect", defect) for defect in info.known_defects]
    return rows + ([("note", info.note)] if info.note else [])
