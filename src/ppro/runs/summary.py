"""``result.json`` of a run folder: what came out of a training, as plain numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.runs.config import RunConfig
from ppro.training.assessment import Assessment
from ppro.training.diagnosis import Diagnosis
from ppro.training.fit import Fit
from ppro.training.versions import versions

FILE = "result.json"


def mean_std(values: Tensor) -> tuple[float, float]:
    """Return mean and sample standard deviation (0 for a single run)."""
    spread = float(values.std()) if values.numel() > 1 else 0.0
    return float(values.mean()), spread


def summary(
    config: RunConfig,
    result: Fit,
    assessment: Assessment,
    out: Path,
    device: str,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the result of a training.

    Accuracies are in percent; scores and ``metrics`` are as the metrics have them, mostly from 0
    to 1.

    Args:
        assessment: what the predictions are worth by all metrics.
        out: the run folder.
        notes: what a reader of the result should know of the data or the recipe.
    """
    settings = config.settings
    nodes = result.nodes
    steps = torch.bincount(nodes.steps.flatten(), minlength=settings.network.max_steps + 1)
    diagnosis = Diagnosis.of(list(nodes.steps), list(nodes.priorities), result.settings[0])
    return {
        "dataset": config.dataset,
        "split": config.split,
        "strategy": settings.strategy,
        "backbone": settings.backbone,
        "runs": config.runs,
        "seed": settings.seed,
        "epochs": int(result.history.epochs.sum()),
        **_spread("val", result.val_accuracy),
        **_spread("test", result.test_accuracy),
        "metric": settings.training.metric,
        **_spread("val_score", result.val_score),
        **_spread("test_score", result.test_score),
        "paper": None if config.paper is None else config.paper.accuracy,
        "seconds": round(result.seconds, 3),
        "out": str(out),
        "interrupted": result.history.interrupted,
        "notes": list(notes),
        **assessment.facts(),
        "steps": (steps / steps.sum()).tolist(),
        "diagnosis": diagnosis.facts(),
        "device": device,
        "threads": result.threads,
        "versions": versions(),
        "best_run": result.best_run,
        "per_run": _per_run(result, assessment),
    }


def _spread(name: str, values: Tensor) -> dict[str, float]:
    mean, std = mean_std(values)
    return {f"{name}_mean": mean, f"{name}_std": std}


def _per_run(result: Fit, assessment: Assessment) -> list[dict[str, Any]]:
    return [
        {
            "run": r,
            "seed": result.settings[r].seed,
            "epochs": int(result.history.epochs[r]),
            "best_epoch": int(result.history.best_epoch[r]) + 1,
            "val_accuracy": float(result.val_accuracy[r]),
            "test_accuracy": float(result.test_accuracy[r]),
            "val_score": float(result.val_score[r]),
            "test_score": float(result.test_score[r]),
            **assessment.of_run(r),
        }
        for r in range(len(result.settings))
    ]
