"""A small training to track."""

from __future__ import annotations

from typing import Any

import torch

from ppro.insight.tracking.base import SUMMARY
from ppro.training.stopping import MEASURED, History

RUNS, EPOCHS = 2, 3


def history() -> History:
    """Two runs; the second stopped after two epochs."""
    metrics = torch.arange(EPOCHS * len(MEASURED) * RUNS, dtype=torch.float32)
    metrics = metrics.reshape(EPOCHS, len(MEASURED), RUNS) / 8
    metrics[2, :, 1] = torch.nan
    return History(metrics, torch.tensor([2, 1]), torch.tensor([3, 2]))


def facts() -> dict[str, Any]:
    return {**dict.fromkeys(SUMMARY, 1.5), "epochs": 5, "dataset": "cora"}
