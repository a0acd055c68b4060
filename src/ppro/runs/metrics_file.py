"""``metrics.jsonl``: one JSON object for each epoch and run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ppro.files import dump_json, read_text
from ppro.runs.problems import reading
from ppro.training.stopping import MEASURED, History

FILE = "metrics.jsonl"
MOST_CELLS, SPARSE = 1_000_000, 64
"""Cells of the table of epochs and runs: so many, and so many times the lines there are."""
Columns = dict[str, NDArray[np.float64]]


def write_metrics(folder: Path, history: History) -> None:
    """Write what was measured, as long as each run was trained."""
    with (folder / FILE).open("w", encoding="utf-8") as file:
        for epoch, by_metric in enumerate(history.metrics.tolist(), start=1):
            for run, values in enumerate(zip(*by_metric, strict=True)):
                if epoch <= history.epochs[run]:
                    row = dict(zip(MEASURED, values, strict=True))
                    file.write(dump_json({"epoch": epoch, "run": run, **row}) + "\n")


def read_metrics(folder: Path) -> Columns:
    """Read every metric by epoch and run; NaN after a run has stopped. Shapes ``[epochs, R]``.

    Raises:
        RunError: the file is missing or damaged.
    """
    path = folder / FILE
    with reading(path):
        rows = [json.loads(line) for line in read_text(path).splitlines()]
        return _columns(rows)


def _columns(rows: list[dict[str, Any]]) -> Columns:
    if not rows:
        raise ValueError("no line")
    epochs = max(row["epoch"] for row in rows)
    runs = 1 + max(row["run"] for row in rows)
    if any(type(row[key]) is not int for row in rows for key in ("epoch", "run")):
        raise ValueError("epochs and runs are whole numbers")
    if any(row["epoch"] < 1 or row["run"] < 0 for row in rows):
        raise ValueError("epochs begin at 1, runs at 0")
    if epochs * runs > MOST_CELLS + SPARSE * len(rows):
        raise ValueError(f"{epochs} epochs of {runs} runs in {len(rows)} lines")
    if missing := [name for name in MEASURED if name not in rows[0] and name != "val_score"]:
        raise ValueError(f"no {missing[0]}")
    names = [name for name in rows[0] if name in MEASURED]
    table = {name: np.full((epochs, runs), np.nan) for name in names}
    for row in rows:
        for name in names:
            value = row[name]
            table[name][row["epoch"] - 1, row["run"]] = np.nan if value is None else value
    return table


def history_of(columns: Columns, facts: Mapping[str, Any]) -> History:
    """Return the history of a training from its metrics and its result.

    Version 0.1 wrote no score; its metric was the accuracy.
    """
    per_run = facts["per_run"]
    epochs = torch.tensor([row["epochs"] for row in per_run])
    best = torch.tensor([row["best_epoch"] - 1 for row in per_run])
    empty = np.full((int(epochs.max()), len(per_run)), np.nan)
    known = {"val_score": columns.get("val_accuracy", empty)} | columns
    found = np.stack([known.get(name, empty) for name in MEASURED], axis=1)
    metrics = torch.from_numpy(found).to(torch.float32)
    return History(metrics, best, epochs, bool(facts.get("interrupted")))
