"""Losses that are not numbers: which runs have no state to keep, since when, and why."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from ppro.errors import TrainingError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.settings.settings import Settings
from ppro.training.stopping import MEASURED, History

Diverged = Literal["error", "keep"]
"""What becomes of a run whose loss was never finite: an error, or its state before training."""

LARGE_FEATURE = 1e4
"""From here on features that are not normalised are the likely cause."""
LARGEST_SUM = 1e30
"""From here on sums and squares of features leave the range of float32."""
_TRAIN, _VAL = MEASURED.index("train_loss"), MEASURED.index("val_loss")
_ACCURACY = MEASURED.index("val_accuracy")


def first_divergence(history: History) -> list[int | None]:
    """Return for each run the first epoch, from 1, whose loss is not finite.

    None for a run that has a state to keep: one epoch with finite losses is enough.
    """
    train, val = history.metrics[:, _TRAIN], history.metrics[:, _VAL]
    # Whether an epoch was validated tells the accuracy: it is a number even of a broken state.
    validated = ~history.metrics[:, _ACCURACY].isnan()
    kept = (validated & train.isfinite() & val.isfinite()).any(0)
    broken = ~train.isfinite() | (validated & ~val.isfinite())
    first = broken.int().argmax(0) + 1
    return [None if k else int(f) for k, f in zip(kept.tolist(), first.tolist(), strict=True)]


def check_learned(history: History, settings: Sequence[Settings], graph: Graph | None) -> None:
    """Refuse a training of which a run has no state with a finite loss.

    Args:
        graph: None where no process holds all of it.

    Raises:
        TrainingError: it names the first epoch and the setting that is the likely cause.
    """
    found = first_divergence(history)
    broken = [run for run, epoch in enumerate(found) if epoch is not None]
    if not broken or not history.metrics.shape[0]:
        return
    first = min(epoch for epoch in found if epoch is not None)
    which = f"run {broken[0]}" if len(broken) == 1 else f"{len(broken)} of {len(found)} runs"
    if len(broken) == len(found):
        which = "every run"
    raise TrainingError(
        f"the loss of {which} is not finite from epoch {first} on, so there is nothing to keep; "
        f"{_likely_cause(settings[broken[0]], graph)}"
    )


def _likely_cause(settings: Settings, graph: Graph | None) -> str:
    held = isinstance(graph, Graph) and not isinstance(graph, LargeGraph)
    largest = _largest(graph.features) if graph is not None and held else 0.0
    norm = settings.inputs.feature_norm
    if largest >= (LARGE_FEATURE if norm == "none" else LARGEST_SUM):
        remedy = "set feature_norm=row" if norm == "none" else "divide them before"
        return f"features reach {largest:.1e}, the likely cause: {remedy}"
    rates = {"lr": settings.training.lr, "lr_controller": settings.controllers.lr_controller}
    name = max(rates, key=lambda key: rates[key]) if settings.model == "ppro" else "lr"
    return (
        f"{name} = {rates[name]:g} is the likely cause: set {name}={min(0.01, rates[name] / 10):g}"
    )


def _largest(features: Tensor) -> float:
    values = features.values() if features.layout == torch.sparse_csr else features
    return float(values.abs().max()) if values.numel() else 0.0
