"""``ppro predict``: apply a saved run and write its table of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from ppro.cli import console
from ppro.cli.file_options import Edges, Nodes, file_source
from ppro.cli.options import DataRoot, Device, Offline, Threads, find_device
from ppro.cli.outcome import count
from ppro.cli.train import graph_and_splits
from ppro.cli.wanted_nodes import wanted_nodes
from ppro.data import Splits
from ppro.data.files import FileSource, Layout, predict_only, read_schema, read_source
from ppro.errors import RunError
from ppro.files import whole_file
from ppro.graph.core import UNLABELLED, Graph
from ppro.runs.nodetable import PARQUET, write_nodes
from ppro.runs.receptive import describe_some
from ppro.runs.runfolder import SCHEMA, RunConfig, best_run, read_config, read_weights, run_settings
from ppro.training.assembly import build_model, prepare_inputs
from ppro.training.fit import NodeTable, accuracy, describe_nodes
from ppro.training.threads import use_threads, worth_cores


def predict(  # noqa: PLR0913 - one argument per option
    run: Annotated[Path, typer.Argument(help="A folder that 'ppro train' wrote.", readable=False)],
    graph_file: Annotated[
        str | None,
        typer.Argument(
            metavar="[GRAPH]",
            help="A new graph in a file: .npz, .graphml or .safetensors.",
            show_default="the graph of the training",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV or Parquet file to write.",
            show_default="predictions.csv in the run folder",
            readable=False,
        ),
    ] = None,
    index: Annotated[
        int | None,
        typer.Option(
            "--run", min=0, help="Which of the runs.", show_default="best validation accuracy"
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Nodes to predict: ids with commas between, or a file with one id in a line. "
            "Where they depend on a small part of the graph, only that part is propagated.",
            show_default="all nodes",
        ),
    ] = None,
    device: Device = "auto",
    data_root: DataRoot = None,
    offline: Offline = False,
    threads: Threads = None,
    nodes: Nodes = None,
    edges: Edges = None,
) -> None:
    """Predict the class, step and priority of every node, or of some, with a saved run.

    With a new graph, the features must be those of the training: columns of the same names, or
    arrays of the same width.

    [bold]Examples[/bold]

      ppro predict runs/cora-l2b --out nodes.csv

      ppro predict runs/cora-l2b --only 12,42

      ppro predict run --nodes new.csv --edges new-edges.csv
    """
    config = read_config(run)
    if index is not None and index >= config.runs:
        raise RunError(f"--run {index}: out of range; {run} holds runs 0 to {config.runs - 1}")
    out = out or run / "predictions.csv"
    _check_out(out)
    new = None
    if graph_file is not None or nodes is not None or edges is not None:
        new = file_source(graph_file, nodes, edges, Layout())
    if new is not None and index is None:
        index = best_run(run)
    graph, splits = graph_of_run(run, config, new, data_root=data_root, offline=offline)
    nodes_of = None if only is None else wanted_nodes(graph, only)
    if nodes_of is not None and index is None:
        # The nodes that validation asks about may not be among those wanted.
        index = best_run(run)
    table, seen = _applied(run, config, graph, nodes_of, find_device(device), threads)
    if index is None:
        trained = bool(splits.val.any())
        index = _best(table, graph, splits) if trained else best_run(run)
    try:
        with whole_file(out) as path:
            parquet = out.suffix.lower() in PARQUET
            write_nodes(path, graph, splits, table, index, parquet=parquet, of=nodes_of)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise RunError(f"{out}: {reason}; choose another --out") from None
    told = count(table.steps.shape[1], "node")
    if nodes_of is not None:
        told += f", {seen:,} of {graph.num_nodes:,} propagated"
    console.out.print(f"run {index}: {told}, {_score(table, graph, splits, index, nodes_of)}")
    console.out.print(f"written to {out}")


def _check_out(out: Path) -> None:
    if out.is_dir():
        raise RunError(f"--out {out}: is a folder; name a CSV or Parquet file")
    if out.suffix.lower() not in (".csv", *PARQUET):
        raise RunError(f"--out {out}: unknown kind of table; let it end in .csv or .parquet")


def graph_of_run(
    run: Path,
    config: RunConfig,
    new: FileSource | None = None,
    *,
    data_root: Path | None = None,
    offline: bool = False,
) -> tuple[Graph, Splits]:
    """The graph of a saved run and its masks; what was done to its files is told on stderr.

    Args:
        new: files of another graph. As in files that have changed since the training, none of
            its nodes has a part in the split.

    Raises:
        RunError: the run was trained on a graph of the catalogue and cannot take files.
        DataError: the files are gone, broken, or do not fit the run.
    """
    if config.source is None and new is not None:
        raise RunError(
            f"{run}: trained on the graph {config.dataset} of the catalogue, whose features have "
            f"no names; export it with 'ppro data export {config.dataset}' and train from files"
        )
    changed = config.source.changed() if config.source and not new else []
    files = new or config.source
    if files is None or not (new or changed):
        # The files are those of the training: with its layout they give its schema again.
        reading = None if files is None else read_source(files)
        return graph_and_splits(config, reading, data_root=data_root, offline=offline)
    reading = read_source(files, read_schema(run / SCHEMA))
    for path in changed:
        console.err.print(f"{path} has changed since the training: taken as a new graph")
    for note in reading.notes:
        console.err.print(note)
    return reading.graph, predict_only(reading.graph, config.runs)


def _applied(
    run: Path,
    config: RunConfig,
    graph: Graph,
    nodes: Tensor | None,
    place: torch.device,
    threads: int | None,
) -> tuple[NodeTable, int]:
    """What the runs say of all or some of the nodes, and how many were propagated for it."""
    settings = run_settings(config)
    # As in training: another number of threads may add in another order.
    use_threads(threads or worth_cores(graph, settings[0], config.runs))
    model = build_model(graph.num_features, graph.num_classes, settings, place)
    read_weights(run, model)
    inputs = prepare_inputs(graph, settings[0], place, config.runs)
    if nodes is not None:
        return describe_some(model, inputs, nodes)
    return describe_nodes(model, inputs, graph, config.runs), graph.num_nodes


def _best(table: NodeTable, graph: Graph, splits: Splits) -> int:
    return int(accuracy(table, graph.labels, splits.val).argmax())


def _score(table: NodeTable, graph: Graph, splits: Splits, index: int, nodes: Tensor | None) -> str:
    about = slice(None) if nodes is None else nodes
    labels, test = graph.labels[about], splits.test[:, about]
    if bool(splits.train.any()):
        if not bool(test[index].any()):
            return "none of them for testing"
        return f"test accuracy {float(accuracy(table, labels, test)[index]):.2f} %"
    known = labels != UNLABELLED
    if not bool(known.any()):
        return "none with a label to compare with"
    score = float(accuracy(table, labels, known.expand_as(table.steps))[index])
    return f"accuracy {score:.2f} % on the {int(known.sum()):,} with a label"
