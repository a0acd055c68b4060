"""Train once more on all labels, for as many epochs as the best states of a training took.

What a training reached says how good such a network is. The network that predicts for the user may
then learn from the labels of validation and test nodes too. Nothing is left to measure it on, so
its last state counts, and temperature and threshold are those of the training. It lies in the run
folder, as a run folder of its own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ppro.data.files import Schema
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.graph.core import UNLABELLED, Graph
from ppro.runs.config import RunConfig
from ppro.runs.opening import open_run
from ppro.runs.saved_run import SavedRun
from ppro.runs.writing import TrainedRun, write_run
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from ppro.training.stopping import History

FOLDER = "refit"
"""Where it lies in the run folder."""
SPLIT = "all-labels"
NOTE = "trained on all labels: its scores are of nodes that it has learned from"


def all_labels(graph: Graph) -> Splits:
    """Return one run that trains on every label; validation looks at the same nodes."""
    known = (graph.labels != UNLABELLED)[None]
    return Splits(SPLIT, known, known.clone(), torch.zeros_like(known))


def refit_settings(settings: Settings, history: History) -> Settings:
    """Return the settings for the mean number of epochs that the best states took."""
    epochs = max(1, round(float((history.best_epoch + 1).double().mean())))
    return settings.replace(epochs=epochs, patience=epochs, selection="last")


def refit(
    folder: Path,
    config: RunConfig,
    graph: Graph,
    result: Fit,
    facts: dict[str, Any],
    *,
    device: torch.device,
    schema: Schema | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Train once more on all labels and write it into the run folder; returns its facts.

    Args:
        folder: that of the training.
        facts: of the training.
        options: threads and ``on_epoch``, as of :func:`ppro.training.fit.fit`.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it early; then nothing is written.
    """
    settings, splits = refit_settings(config.settings, result.history), all_labels(graph)
    again = fit(graph, splits, [settings], device=device, **options)
    if again.history.interrupted:
        raise KeyboardInterrupt
    whole = config.model_copy(update={"runs": 1, "settings": settings, "paper": None})
    told: Any = {"device": str(device), "notes": [NOTE], "schema": schema}
    run = TrainedRun.of(whole, graph, splits, again, **told)
    best = facts["per_run"][facts["best_run"]]
    kept = {key: best[key] for key in ("temperature", "threshold")}
    per_run = [{**run.facts["per_run"][0], **kept}]
    return write_run(folder / FOLDER, replace(run, facts={**run.facts, "per_run": per_run}))


def open_refit(folder: Path) -> SavedRun:
    """Open what :func:`refit` wrote into a run folder.

    Raises:
        RunError: there is none.
    """
    if not (folder / FOLDER).is_dir():
        raise RunError(f"{folder}: no refit on all labels in it; train with --refit")
    return open_run(folder / FOLDER)
