"""Scores of an estimator: labels and probabilities in all classes, and what training measured."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_all_classes(
    probabilities: NDArray[Any], labels: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return probabilities and labels by number, with the classes that the model never saw.

    The probability of those is 0.
    """
    new = [value for value in np.unique(labels).tolist() if value not in classes.tolist()]
    number = {value: code for code, value in enumerate([*classes.tolist(), *new])}
    codes = np.array([number[value] for value in labels.tolist()], dtype=np.int64)
    wide = np.pad(probabilities.astype(np.float64), ((0, 0), (0, len(new))))
    return wide, codes


def metrics_of(facts: Mapping[str, Any], run: int) -> dict[str, dict[str, float]]:
    """Return every metric of a run on its validation and test nodes; NaN where there are none.

    Empty for runs of older versions.
    """
    found = facts["per_run"][run].get("metrics", {})
    return {
        part: {name: math.nan if value is None else value for name, value in scores.items()}
        for part, scores in found.items()
    }
