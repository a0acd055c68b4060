"""Calibrated probabilities and thresholds of a trained run, for tables and for the estimator."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from ppro.errors import RunError, SettingsError
from ppro.runs.nodes import NodeRecords
from ppro.training.calibration import Calibration

BEST = "best"
"""The threshold that has the best F1 on the validation nodes."""


def calibration_of(facts: Mapping[str, Any], run: int) -> Calibration | None:
    """Return what the validation nodes of a run say of its probabilities.

    None where it had no validation nodes, or an older version trained it.
    """
    row = facts["per_run"][run]
    temperature, threshold = _number(row.get("temperature")), _number(row.get("threshold"))
    if temperature is None:
        return None
    return Calibration(temperature, facts.get("positive"), threshold)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def threshold_of(word: str | float) -> str | float:
    """Return a threshold that a user gave: ``best``, or a number between 0 and 1.

    Raises:
        SettingsError: it is neither.
    """
    try:
        number = math.nan if word == BEST else float(word)
    except (TypeError, ValueError):
        number = -1.0
    if word != BEST and not 0 <= number <= 1:
        raise SettingsError(f"threshold {word}: give a number from 0 to 1, or {BEST}")
    return BEST if word == BEST else number


def adjusted_chances(
    chances: Tensor,
    found: Calibration | None,
    *,
    calibrated: bool = False,
    threshold: str | float | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return probabilities, calibrated or not, and the classes where a threshold decides them.

    Args:
        chances: Shape ``[m, c]``.
        found: what the validation nodes say.
        threshold: of the probabilities that are returned, for the positive class; None leaves it
            to the most probable class.

    Raises:
        RunError: the run has no temperature, or no best threshold.
        SettingsError: a threshold for more than two classes.
    """
    if found is None and (calibrated or threshold is not None):
        raise RunError(
            "neither temperature nor threshold is known: the run had no validation nodes, or an "
            "older version trained it; train again with some"
        )
    shown = chances if found is None or not calibrated else found.calibrated(chances)
    if threshold is None or found is None:
        return shown, None
    if found.positive is None:
        raise SettingsError("threshold: decides between two classes, and the run has more")
    limit = threshold_of(threshold)
    if isinstance(limit, str):
        best = found.calibrated_threshold() if calibrated else found.threshold
        if best is None:
            raise RunError(
                "no best threshold: the validation nodes of the run are all of one class; give a "
                "number from 0 to 1"
            )
        limit = best
    return shown, found.predicted(shown, limit)


def adjusted(records: NodeRecords, found: Calibration | None, **options: Any) -> NodeRecords:
    """Return the records with other probabilities or classes; see :func:`adjusted_chances`."""
    assert records.probabilities is not None
    chances, predicted = adjusted_chances(records.probabilities, found, **options)
    return replace(records, probabilities=chances, predicted=predicted)
