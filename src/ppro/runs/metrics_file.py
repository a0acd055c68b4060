"""``metrics.jsonl``: one JSON object for each epoch and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ppro.errors import RunError
from ppro.files import dump_json
from ppro.training.stopping import MEASURED, History

FILE = "metrics.jsonl"
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
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return _columns(rows)
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


def _columns(rows: list[dict[str, Any]]) -> Columns:
    epochs = max((row["epoch"] for row in rows), default=0)
    runs = 1 + max((row["run"] for row in rows), default=0)
    names = [name for name in (rows[0] if rows else {}) if name not in ("epoch", "run")]
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
