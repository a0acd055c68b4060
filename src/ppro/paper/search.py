"""The search of a recipe: as many configurations for every method, judged by validation alone."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.paper.batches import Done, Job, train_all
from ppro.paper.methods import Method, kind_of
from ppro.runs.versions import versions
from ppro.settings.settings import Settings
from ppro.training.trainer import OnEpoch

CONFIGURATIONS = 16
FIRST_SEED = 1000
"""Seeds of searches begin here, those of tables at 0: what is reported was never searched on."""


@dataclass(frozen=True)
class Budget:
    """What every method may spend on a search.

    Args:
        configurations: how many are tried.
        runs: runs of each; on random splits each has a split of its own.
    """

    configurations: int = CONFIGURATIONS
    runs: int = 5


def search(
    method: Method,
    graph: Graph,
    dataset: str,
    splits: Splits,
    budget: Budget,
    device: torch.device,
    on_epoch: OnEpoch | None = None,
) -> dict[str, Any]:
    """Try the configurations that the method's space gives; returns the record of all of them."""
    kind, start = kind_of(dataset), time.perf_counter()
    drawn = method.configurations(kind, budget.configurations)
    candidates = [Settings(**{**method.settings, **changes}) for changes in drawn]
    jobs = [
        Job(settings.replace(seed=FIRST_SEED + run), run)
        for settings in candidates
        for run in range(budget.runs)
    ]
    done = train_all(graph, splits.without_test(), jobs, device, on_epoch)
    scores = [score(done[i : i + budget.runs]) for i in range(0, len(done), budget.runs)]
    best = max(range(len(scores)), key=lambda i: scores[i]["validation_mean"])
    return {
        "method": method.name,
        "dataset": dataset,
        "split": splits.name,
        "space": kind,
        "configurations": len(drawn),
        "runs": budget.runs,
        "first_seed": FIRST_SEED,
        "chosen": best,
        "settings": {**method.settings, **drawn[best]},
        "tried": [{**changes, **score} for changes, score in zip(drawn, scores, strict=True)],
        "device": device.type,
        "seconds": time.perf_counter() - start,
        "versions": versions(),
    }


def score(runs: Sequence[Done]) -> dict[str, float]:
    """The validation accuracy of a configuration; a run that diverged counts as zero."""
    accuracies = [0.0 if math.isnan(run.val_accuracy) else run.val_accuracy for run in runs]
    spread = statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
    return {
        "validation_mean": statistics.fmean(accuracies),
        "validation_std": spread,
        "mean_step": statistics.fmean(run.mean_step for run in runs),
    }
