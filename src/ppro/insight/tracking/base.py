"""What every tracker shares: the interface, and the metrics of a training as plain numbers."""

from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from ppro.errors import RunError
from ppro.training.stopping import MEASURED, History
from ppro.training.trainer import OnEpoch

Facts = Mapping[str, Any]
"""What :func:`ppro.runs.summary.summary` says of a training."""

SUMMARY = (
    *("val_mean", "val_std", "test_mean", "test_std", "val_score_mean", "test_score_mean"),
    *("seconds", "epochs"),
)
"""The facts of a training that are told at its end."""


LONGEST = 160
"""Characters that are shown of a problem of a tracker."""


class Tracker(Protocol):
    """What listens to a training."""

    def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
        """Take note of an epoch (see :data:`ppro.training.trainer.OnEpoch`)."""

    def finish(self, history: History, facts: Facts, folder: Path) -> None:
        """Take note of the whole training, of which ``folder`` holds the result."""

    def close(self) -> None:
        """Let go of files and connections, however training ended."""


def means(metrics: Tensor) -> dict[str, float]:
    """Return the mean of every metric over the runs that have one. ``metrics``: ``[6, R]``."""
    values = metrics.nanmean(dim=1).tolist()
    return {name: value for name, value in zip(MEASURED, values, strict=True) if value == value}


def rows(history: History) -> Iterator[tuple[int, int, dict[str, float]]]:
    """Yield run, epoch counted from 1, and what was measured then, as long as a run was trained."""
    by_run = history.metrics.permute(2, 0, 1).tolist()
    for run, epochs in enumerate(history.epochs.tolist()):
        for epoch, values in enumerate(by_run[run][:epochs], start=1):
            pairs = zip(MEASURED, values, strict=True)
            yield run, epoch, {name: value for name, value in pairs if value == value}


def listener(
    trackers: MutableSequence[Tracker],
    warn: Callable[[str], None],
    progress: OnEpoch | None = None,
) -> OnEpoch:
    """Return what a training calls after an epoch: progress, then every tracker.

    A tracker that fails, with whatever error, is named in a warning and left out from then on:
    of the epochs, and of the list that :func:`finish` goes through.
    """

    def call(epoch: int, metrics: Tensor, active: int) -> None:
        if progress is not None:
            progress(epoch, metrics, active)
        for tracker in tuple(trackers):
            try:
                tracker.on_epoch(epoch, metrics, active)
            except Exception as error:
                trackers.remove(tracker)
                warn(f"{_told(tracker, error)} (training goes on without it)")

    return call


def finish(
    trackers: Sequence[Tracker],
    warn: Callable[[str], None],
    history: History,
    facts: Facts,
    folder: Path,
) -> None:
    """Tell every tracker of the whole training, and warn of one that fails."""
    for tracker in trackers:
        try:
            tracker.finish(history, facts, folder)
        except Exception as error:
            warn(f"{_told(tracker, error)} (the run itself is saved in {folder})")


def _told(tracker: Tracker, error: Exception) -> str:
    """Return one line about what went wrong with a tracker."""
    if isinstance(error, RunError):
        return str(error)
    reason = " ".join(str(error).split())[:LONGEST] or "no reason given"
    return f"{type(tracker).__name__}: {type(error).__name__}: {reason}"
