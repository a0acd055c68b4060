"""A cell of a table: a method on a dataset, at the settings that its search chose."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.paper.batches import Done, Job, train_all
from ppro.runs.versions import versions
from ppro.settings.settings import Settings
from ppro.training.trainer import OnEpoch


@dataclass(frozen=True)
class Cell:
    """What a table wants to know.

    Args:
        changes: settings that differ from those that the search chose, such as the depth.
    """

    dataset: str
    split: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What a search is for: dataset, split and method."""
        return self.dataset, self.split, self.method

    @property
    def variant(self) -> str:
        """The changes as part of a file name."""
        return ",".join(f"{key}={value}" for key, value in sorted(self.changes.items()))

    @property
    def label(self) -> str:
        """What progress calls it."""
        return " ".join(filter(None, (self.dataset, self.split, self.method, self.variant)))


def run_cell(
    cell: Cell,
    graph: Graph,
    splits: Splits,
    searched: Mapping[str, Any],
    device: torch.device,
    on_epoch: OnEpoch | None = None,
) -> dict[str, Any]:
    """Train the runs of a cell, seeds 0, 1, …; test labels are read once, after training."""
    start, runs = time.perf_counter(), splits.train.shape[0]
    settings = Settings(**{**searched["settings"], **cell.changes})
    jobs = [Job(settings.replace(seed=run), run) for run in range(runs)]
    done = train_all(graph, splits, jobs, device, on_epoch)
    return {
        "method": cell.method,
        "dataset": cell.dataset,
        "split": cell.split,
        "changes": dict(cell.changes),
        "seeds": list(range(runs)),
        **summary(done),
        "configurations": searched["configurations"],
        "search_validation": _search_validation(searched),
        "settings": settings.model_dump(exclude_none=True),
        "device": device.type,
        "seconds": time.perf_counter() - start,
        "versions": versions(),
    }


def summary(done: Sequence[Done]) -> dict[str, Any]:
    """What runs at the same settings reached."""
    val, test = [run.val_accuracy for run in done], [run.test_accuracy for run in done]
    return {
        "runs": len(done),
        "test_mean": statistics.fmean(test),
        "test_std": statistics.stdev(test) if len(done) > 1 else 0.0,
        "val_mean": statistics.fmean(val),
        "test": test,
        "val": val,
        "mean_step": [run.mean_step for run in done],
        "step_shares": _mean_shares([run.step_shares for run in done]),
        "epochs": [run.epochs for run in done],
    }


def _mean_shares(runs: Sequence[Sequence[float]]) -> list[float]:
    """The mean over the runs of the share of nodes that stopped at each step."""
    return [round(statistics.fmean(shares), 5) for shares in zip(*runs, strict=True)]


def _search_validation(searched: Mapping[str, Any]) -> float | None:
    """The validation accuracy by which the settings were chosen; None without a search."""
    if "chosen" not in searched:
        return None
    return float(searched["tried"][searched["chosen"]]["validation_mean"])
