"""How results stand in tables: mean and spread, and whether a difference is more than noise."""

from collections.abc import Mapping
from typing import Any

from ppro.training.paired import Comparison, compare, standard_error

__all__ = ["Comparison", "compare", "mean_and_spread", "standard_error"]


def mean_and_spread(result: Mapping[str, Any], of: str = "test") -> str:
    """Return mean ± standard deviation of a result, as it stands in a table.

    Args:
        of: "test" or "val".
    """
    return f"{result[f'{of}_mean']:.1f} ± {result[f'{of}_std']:.1f}"
