"""Scores of an estimator: labels and probabilities in all classes, and what training measured."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.errors import DataError

SHOWN = 10
"""Classes that a message names."""


def in_all_classes(
    probabilities: NDArray[Any], labels: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return probabilities and labels by number, with the classes that the model never saw.

    The probability of those is 0. Where either labels or classes are text, as the names of a
    :class:`ppro.Graph` are, and the others are not, both are compared as text.

    Raises:
        DataError: written in another way than the classes, and none of the labels is one.
    """
    if (labels.dtype.kind == "U") != (classes.dtype.kind == "U"):
        labels, classes = labels.astype(np.str_), classes.astype(np.str_)
        if not np.isin(labels, classes).any():
            raise DataError(
                f"labels such as {str(labels[0])!r}, but the classes of the model are "
                f"{', '.join(classes.tolist()[:SHOWN])}; give the labels as they were in training"
            )
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
