"""What is kept of the runs of a candidate: what they reached, and what steps and priorities did."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ppro.search.batches import Done
from ppro.training.diagnosis import Diagnosis


def kept_of(runs: Sequence[Done], *, tested: bool, curves: bool) -> dict[str, Any]:
    """Return what stands in a record of the runs.

    ``diagnosis`` says of every tested run how its nodes differ in step and priority (see
    :class:`ppro.training.diagnosis.Diagnosis`); of others ``off_common`` is the share of the nodes
    that are not at the most common step of their run.

    Args:
        tested: whether there are test accuracies.
        curves: whether the validation accuracy of every epoch is kept.
    """
    found: dict[str, Any] = spread("val", [done.worth for done in runs])
    if tested:
        found |= spread("test", [done.test_score for done in runs])
        found["diagnosis"] = _diagnosis(runs)
    else:
        found["off_common"] = round(statistics.fmean(1 - max(d.step_shares) for d in runs), 5)
    found |= {
        "mean_step": [done.mean_step for done in runs],
        "step_shares": mean_shares([done.step_shares for done in runs]),
        "epochs": [done.epochs for done in runs],
    }
    if curves:
        found["curves"] = [
            [round(100 * value, 3) for value in done.curve.tolist()] for done in runs
        ]
    return found


def _diagnosis(runs: Sequence[Done]) -> dict[str, Any]:
    steps, priorities = [done.steps for done in runs], [done.priorities for done in runs]
    return Diagnosis.of(steps, priorities, runs[0].job.settings).facts()


def off_common(record: Mapping[str, Any]) -> float | None:
    """Return the share of the nodes that are not at the most common step of their run.

    Returns the mean over the runs of a record; None where no controller chose steps.
    """
    found = Diagnosis.read(record.get("diagnosis"))
    if found is None or found.steps is None:
        return None
    return statistics.fmean(1 - max(run.shares) for run in found.steps)


def spread(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Return mean, standard deviation and all values of the runs."""
    return {
        f"{name}_mean": statistics.fmean(values),
        f"{name}_std": statistics.stdev(values) if len(values) > 1 else 0.0,
        name: list(values),
    }


def mean_shares(runs: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean over the runs of the share of nodes that stopped at each step."""
    return [round(statistics.fmean(shares), 5) for shares in zip(*runs, strict=True)]
