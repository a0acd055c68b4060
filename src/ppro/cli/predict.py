"""``ppro predict``: apply a saved run and write its table of nodes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppro.cli import console
from ppro.cli.file_options import GivenRun, check_not_read, takes_run
from ppro.cli.options import Device, RunFolder, shown
from ppro.errors import DataError, RunError

if TYPE_CHECKING:
    from torch import Tensor

    from ppro.graph.core import Graph


@takes_run
def predict(
    run: RunFolder,
    out: Annotated[
        Path | None,
        shown("CSV or Parquet file to write.", "predictions.csv in the run folder", readable=False),
    ] = None,
    only: Annotated[
        str | None,
        shown(
            "Nodes to predict: ids with commas between, or a file with one id in a line. "
            "Where they depend on a small part of the graph, only that part is propagated.",
            "all nodes",
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="With the network that 'ppro train --refit' made last."),
    ] = False,
    calibrated: Annotated[
        bool,
        typer.Option(
            "--calibrated", help="Probabilities at the temperature that fits validation nodes best."
        ),
    ] = False,
    threshold: Annotated[
        str | None,
        shown(
            "Of two classes: the probability from which on a node is of the positive one, from 0 "
            "to 1; or best, that with the best F1 on validation nodes.",
            "the most probable class",
        ),
    ] = None,
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv",
            help="Put an apostrophe before texts that a spreadsheet would take for a formula.",
        ),
    ] = False,
    device: Device = "auto",
    *,
    given: GivenRun,
) -> None:
    """Predict the class, step and priority of every node, or of some, with a saved run.

    With a new graph, the features must be those of the training: columns of the same names, or
    arrays of the same width.

    [bold]Examples[/bold]

      ppro predict runs/cora-l2b --out nodes.csv

      ppro predict runs/cora-l2b --only 12,42

      ppro predict run --nodes new.csv --edges new-edges.csv

      ppro predict run --calibrated --threshold best
    """
    from ppro.cli.measured import class_table, other_metrics, title_of_classes
    from ppro.compute.device import find_device
    from ppro.files import whole_file
    from ppro.runs.calibrating import adjusted, calibration_of, threshold_of
    from ppro.runs.nodetable import PARQUET, write_nodes
    from ppro.runs.opening import open_run
    from ppro.runs.predicting import assessed, predict_nodes, quality
    from ppro.runs.refit import all_labels, open_refit
    from ppro.runs.source import graph_of_run

    if threshold is not None:
        threshold_of(threshold)
    saved = open_refit(run) if refit else open_run(run)
    chosen = saved.chosen(given.index)
    out = out or run / "predictions.csv"
    _check_out(out, PARQUET)
    listed = Path(only) if only is not None and os.path.isfile(only) else None
    check_not_read("--out", out, [given.graph["new"], saved.config.source, listed])
    graph, splits = graph_of_run(saved, **given.graph)
    if refit and bool(splits.train.any()):
        splits = all_labels(graph)
    records, propagated = predict_nodes(
        saved,
        graph,
        splits,
        run=chosen,
        nodes=None if only is None else _wanted(graph, only),
        device=find_device(device),
        threads=given.threads,
    )
    if calibrated or threshold is not None:
        known = calibration_of(saved.facts, chosen)
        records = adjusted(records, known, calibrated=calibrated, threshold=threshold)
    with console.writing(out), whole_file(out) as path:
        is_parquet = out.suffix.lower() in PARQUET
        write_nodes(path, records, parquet=is_parquet, safe=safe_csv)
    told = console.count(records.steps.shape[0], "node")
    if only is not None:
        told += f", {propagated:,} of {graph.num_nodes:,} propagated"
    metric = saved.config.settings.training.metric
    console.out.print(f"run {chosen}: {told}, {quality(records, metric)}")
    facts = {} if only is not None else assessed(records, metric)
    if facts and (lines := class_table(facts)):
        console.out.print(f"{title_of_classes(facts)}\n{lines}")
        console.out.print(console.paragraph(other_metrics(facts)))
    console.out.print(f"written to {out}")


def _check_out(out: Path, parquet: tuple[str, ...]) -> None:
    if out.is_dir():
        raise RunError(f"--out {out}: is a folder; name a CSV or Parquet file")
    if out.suffix.lower() not in (".csv", *parquet):
        raise RunError(f"--out {out}: unknown kind of table; let it end in .csv or .parquet")


def _wanted(graph: Graph, only: str) -> Tensor:
    """Return the numbers of the nodes that ``--only`` names, each once. Shape ``[m]``."""
    import torch

    from ppro.graph.ids import numbers_of

    # A list of many ids is too long for the name of a file, which the system refuses to look for.
    is_file = os.path.isfile(only)
    try:
        lines = (
            Path(only).read_text(encoding="utf-8-sig").splitlines() if is_file else only.split(",")
        )
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--only {only}: cannot be read as text ({error})") from None
    ids = list(dict.fromkeys(word for line in lines if (word := line.strip())))
    if not ids:
        raise DataError(f"--only {only}: names no node; give ids, or a file with one id in a line")
    return torch.tensor(numbers_of(graph, ids))
