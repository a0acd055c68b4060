"""How results stand in tables: mean and spread, and whether a difference is more than noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ppro.training.paired import Comparison, compare, standard_error

__all__ = [
    "LEVEL",
    "TOO_FEW",
    "Comparison",
    "Judged",
    "compare",
    "holm",
    "judged",
    "mean_and_spread",
    "standard_error",
    "with_error",
]

LEVEL = 0.05
"""How often a table in which nothing differs may still say better or worse somewhere."""
TOO_FEW = "too few runs"
"""The verdict on a comparison that cannot be tested."""
Key = TypeVar("Key")


def mean_and_spread(result: Mapping[str, Any], of: str = "test") -> str:
    """Return mean ± standard deviation of a result, as it stands in a table.

    Args:
        of: "test" or "val".
    """
    return f"{result[f'{of}_mean']:.1f} ± {result[f'{of}_std']:.1f}"


def with_error(found: Comparison | None, digits: int = 2) -> str:
    """Return a difference ± its standard error, as it stands in a table; a dash for none."""
    if found is None:
        return "–"
    return f"{found.difference:+.{digits}f} ± {found.standard_error:.{digits}f}"


@dataclass(frozen=True)
class Judged:
    """A comparison among all those of its table.

    Args:
        comparison: one method against another, run by run.
        adjusted: p of the paired t-test, corrected for the number of comparisons (Holm, 1979).
    """

    comparison: Comparison
    adjusted: float

    @property
    def verdict(self) -> str:
        """Better or worse where the corrected p is below :data:`LEVEL`, else a tie."""
        if math.isnan(self.comparison.t_test):
            return TOO_FEW
        if self.adjusted >= LEVEL:
            return "tie"
        return "better" if self.comparison.difference > 0 else "worse"

    @property
    def told(self) -> str:
        """The difference with its standard error, and the verdict."""
        return f"{with_error(self.comparison)}, {self.verdict}"


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number by Holm's step-down method, in their order.

    The least is multiplied by their number m, the next by m - 1 and so on; none is less than one
    before it, and none above 1.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    found, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        found[i] = largest
    return found


def judged(comparisons: Mapping[Key, Comparison]) -> dict[Key, Judged]:
    """Return all comparisons of a table with their corrected p; those of single runs have none."""
    known = [key for key, found in comparisons.items() if not math.isnan(found.t_test)]
    adjusted = dict(zip(known, holm([comparisons[key].t_test for key in known]), strict=True))
    return {key: Judged(found, adjusted.get(key, math.nan)) for key, found in comparisons.items()}
