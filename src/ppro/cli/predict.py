"""``ppro predict``: apply a saved run and write its table of nodes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ppro.assembly import build_model, prepare_inputs
from ppro.cli import console
from ppro.cli.options import DataRoot, Device, Offline, find_device
from ppro.data import load_graph, make_splits
from ppro.errors import RunError
from ppro.fitting import accuracy, describe_nodes
from ppro.runfolder import read_config, read_weights, run_settings, write_nodes


def predict(
    run: Annotated[Path, typer.Argument(help="A folder that 'ppro train' wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help="CSV file to write.", show_default="predictions.csv in the run folder"),
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
) -> None:
    """Predict the class, step and priority of every node with a saved run."""
    config = read_config(run)
    if index is not None and index >= config.runs:
        raise RunError(f"--run {index}: {run} holds runs 0 to {config.runs - 1}")
    graph = load_graph(config.dataset, data_root=data_root, offline=offline)
    splits = make_splits(
        graph,
        config.dataset,
        config.split,
        config.runs,
        config.settings.seed,
        data_root=data_root,
        offline=offline,
    )
    settings, place = run_settings(config), find_device(device)
    model = build_model(graph.num_features, graph.num_classes, settings, place)
    read_weights(run, model)
    inputs = prepare_inputs(graph, settings[0], place)
    nodes = describe_nodes(model, inputs, graph, config.runs)
    if index is None:
        index = int(accuracy(nodes, graph.labels, splits.val).argmax())
    out = out or run / "predictions.csv"
    _write_whole(out, lambda path: write_nodes(path, graph, splits, nodes, index))
    test = float(accuracy(nodes, graph.labels, splits.test)[index])
    console.out.print(f"run {index}: {graph.num_nodes:,} nodes, test accuracy {test:.2f} %")
    console.out.print(f"written to {out}")


def _write_whole(path: Path, write: object) -> None:
    """Write a file under a temporary name and rename it when it is complete."""
    assert callable(write)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        os.close(handle)
        try:
            write(Path(name))
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror or error})") from None
