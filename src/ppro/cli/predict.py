"""``ppro predict``: apply a saved run and write its table of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppro.assembly import build_model, prepare_inputs
from ppro.cli import console
from ppro.cli.options import DataRoot, Device, Offline, Threads, find_device
from ppro.data import load_graph, make_splits
from ppro.errors import RunError
from ppro.fitting import accuracy, describe_nodes
from ppro.runfolder import read_config, read_weights, run_settings, whole_file, write_nodes
from ppro.threads import use_threads, worth_cores


def predict(
    run: Annotated[Path, typer.Argument(help="A folder that 'ppro train' wrote.", readable=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV file to write.",
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
    device: Device = "auto",
    data_root: DataRoot = None,
    offline: Offline = False,
    threads: Threads = None,
) -> None:
    """Predict the class, step and priority of every node with a saved run."""
    config = read_config(run)
    if index is not None and index >= config.runs:
        raise RunError(f"--run {index}: out of range; {run} holds runs 0 to {config.runs - 1}")
    out = out or run / "predictions.csv"
    if out.is_dir():
        raise RunError(f"--out {out}: is a folder; name a CSV file")
    settings, place = run_settings(config), find_device(device)
    graph = load_graph(config.dataset, data_root=data_root, offline=offline, options=config.options)
    splits = make_splits(
        graph,
        config.dataset,
        config.split,
        config.runs,
        config.settings.seed,
        data_root=data_root,
        offline=offline,
    )
    # As in training: another number of threads may add in another order.
    use_threads(threads or worth_cores(graph, settings[0], config.runs))
    model = build_model(graph.num_features, graph.num_classes, settings, place)
    read_weights(run, model)
    nodes = describe_nodes(model, prepare_inputs(graph, settings[0], place), graph, config.runs)
    if index is None:
        index = int(accuracy(nodes, graph.labels, splits.val).argmax())
    try:
        with whole_file(out) as path:
            write_nodes(path, graph, splits, nodes, index)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise RunError(f"{out}: {reason}; choose another --out") from None
    test = float(accuracy(nodes, graph.labels, splits.test)[index])
    console.out.print(f"run {index}: {graph.num_nodes:,} nodes, test accuracy {test:.2f} %")
    console.out.print(f"written to {out}")
