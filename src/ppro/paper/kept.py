"""What is kept of the runs of a candidate: what they reached, and what steps and priorities did."""

import statistics
from collections.abc import Sequence
from typing import Any

from ppro.search.batches import Done


def kept_of(runs: Sequence[Done], *, tested: bool, curves: bool) -> dict[str, Any]:
    """Return what stands in a record of the runs.

    ``off_common`` is the share of the nodes of each run that are not at its most common step,
    ``priority_spread`` the standard deviation of its priorities over their mean.

    Args:
        tested: whether there are test accuracies.
        curves: whether the validation accuracy of every epoch is kept.
    """
    found: dict[str, Any] = spread("val", [done.worth for done in runs])
    if tested:
        found |= spread("test", [done.test_accuracy for done in runs])
    found |= {
        "mean_step": [done.mean_step for done in runs],
        "step_shares": mean_shares([done.step_shares for done in runs]),
        "off_common": [round(1 - max(done.step_shares), 5) for done in runs],
        "priority_spread": [round(_relative_spread(done), 5) for done in runs],
        "epochs": [done.epochs for done in runs],
    }
    if curves:
        found["curves"] = [
            [round(100 * value, 3) for value in done.curve.tolist()] for done in runs
        ]
    return found


def _relative_spread(done: Done) -> float:
    priorities = done.priorities.double()
    return float(priorities.std(correction=0) / priorities.mean())


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
