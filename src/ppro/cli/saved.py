"""Opening a saved run for the commands that tell of its nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import torch
import typer

from ppro.cli.predict import graph_of_run
from ppro.data.files import read_schema
from ppro.data.files.schema import CategoricalColumn, NumericColumn
from ppro.errors import RunError
from ppro.insight.explain import ExplainedRun, explain_nodes, one_run
from ppro.runs.runfolder import SCHEMA, best_run, read_config, read_weights, run_settings
from ppro.training.assembly import build_model, prepare_inputs
from ppro.training.fit import accuracy, describe_nodes
from ppro.training.threads import use_threads, worth_cores

RunFolder = Annotated[
    Path, typer.Argument(help="A folder that 'ppro train' wrote.", readable=False)
]
RunIndex = Annotated[
    int | None,
    typer.Option(
        "--run", min=0, help="Which of the runs.", show_default="best validation accuracy"
    ),
]


def open_run(
    folder: Path, index: int | None, *, data_root: Path | None, offline: bool, threads: int | None
) -> ExplainedRun:
    """Apply a saved run to its graph and explain every node.

    Args:
        index: the run to explain, or None for that with the best validation accuracy.

    Raises:
        RunError: there is no such run, or the folder is damaged.
    """
    config = read_config(folder)
    if index is not None and index >= config.runs:
        raise RunError(f"--run {index}: out of range; {folder} holds runs 0 to {config.runs - 1}")
    graph, splits = graph_of_run(folder, config, data_root=data_root, offline=offline)
    settings, cpu = run_settings(config), torch.device("cpu")
    # As in training: another number of threads may add in another order.
    use_threads(threads or worth_cores(graph, settings[0], config.runs))
    model = build_model(graph.num_features, graph.num_classes, settings, cpu)
    read_weights(folder, model)
    inputs = prepare_inputs(graph, settings[0], cpu)
    table = describe_nodes(model, inputs, graph, config.runs)
    if index is None:
        known = bool(splits.val.any())
        index = (
            int(accuracy(table, graph.labels, splits.val).argmax()) if known else best_run(folder)
        )
    told = explain_nodes(one_run(model, settings, graph, index), inputs, graph)
    return ExplainedRun(config, graph, splits, table, index, told, feature_names(folder))


def feature_names(folder: Path) -> tuple[str, ...] | None:
    """What the features of a run are called: by the columns of the user's tables, if any."""
    path = folder / SCHEMA
    if not path.exists():
        return None
    columns = read_schema(path).columns
    return tuple(name for column in columns for name in _names(column)) or None


def _names(column: NumericColumn | CategoricalColumn) -> list[str]:
    """A name for each feature that a column makes, in their order."""
    missing = [f"{column.name} is missing"] if column.indicator else []
    if isinstance(column, NumericColumn):
        return [column.name, *missing]
    other = [f"{column.name} is another"] if column.other else []
    return [*(f"{column.name} = {value}" for value in column.categories), *other, *missing]
