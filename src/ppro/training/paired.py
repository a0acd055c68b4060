"""Is a difference more than noise? Two methods on the same seeds and splits, run by run."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

ROUNDING = 1e-9
"""Differences of accuracies below this are equal."""


@dataclass(frozen=True)
class Comparison:
    """One method against another, run by run.

    Args:
        difference: mean of the differences, in points.
        standard_error: of that mean.
        t_test: two-sided p of the paired t-test.
        wilcoxon: two-sided p of the signed-rank test, which assumes no normal distribution.
        runs: number of pairs.
    """

    difference: float
    standard_error: float
    t_test: float
    wilcoxon: float
    runs: int

    @property
    def verdict(self) -> str:
        """Better or worse beyond two standard errors, else a tie."""
        if math.isnan(self.standard_error):
            return "too few runs"
        if abs(self.difference) <= 2 * self.standard_error:
            return "tie"
        return "better" if self.difference > 0 else "worse"


def standard_error(values: Sequence[float]) -> float:
    """Of the mean of runs; NaN for a single one."""
    if len(values) < 2:
        return math.nan
    return statistics.stdev(values) / math.sqrt(len(values))


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """Paired over the same splits and seeds."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = statistics.fmean(differences)
    if len(differences) < 2:
        return Comparison(mean, math.nan, math.nan, math.nan, len(differences))
    if max(differences) - min(differences) < ROUNDING:
        same = 1.0 if abs(mean) < ROUNDING else 0.0
        return Comparison(mean, 0.0, same, _signed_rank(differences), len(differences))
    from scipy import stats

    t_test = float(stats.ttest_1samp(differences, 0.0).pvalue)
    return Comparison(
        mean, standard_error(differences), t_test, _signed_rank(differences), len(differences)
    )


def _signed_rank(differences: Sequence[float]) -> float:
    if not any(abs(d) > ROUNDING for d in differences):
        return 1.0
    # They take half a second to import, and every command would pay.
    from scipy import stats

    return float(stats.wilcoxon(differences).pvalue)
