"""What the candidates of an automatic search reached, and what was chosen."""

import math
import statistics
from dataclasses import dataclass

from ppro.parts import METRICS
from ppro.search.auto_candidates import Candidate
from ppro.settings.settings import Settings
from ppro.training.metrics import Metric


@dataclass(frozen=True)
class Trial:
    """What a candidate reached on the validation nodes of each of its runs.

    Args:
        accuracies: times a hundred; of another metric its worth, so that more is better.
        metric: what was measured.
    """

    candidate: Candidate
    accuracies: tuple[float, ...]
    seconds: float
    trouble: str = ""
    """What kept it from training to its end; without enough memory its runs count for nothing."""
    metric: str = "accuracy"

    @property
    def score(self) -> float:
        """Return the mean over the runs."""
        return statistics.fmean(self.accuracies)

    @property
    def shown(self) -> str:
        """Return the mean as a reader sees it, with the metric's name where it is no accuracy."""
        metric: type[Metric] = METRICS.get(self.metric)
        name = "" if metric.is_accuracy else f"{metric.title} "
        digits = 1 if metric.percent else None
        return f"{name}{metric.shown(metric.of_worth(self.score / 100), digits=digits)}"


@dataclass(frozen=True)
class Choice:
    """The settings that won, and what was tried, the best first."""

    settings: Settings
    trials: tuple[Trial, ...]
    seconds: float

    @property
    def reason(self) -> str:
        """Return one sentence for the user."""
        best = self.trials[0]
        return (
            f"chose '{best.candidate.name}' ({best.candidate.why}): validation "
            f"{best.shown} over {len(best.accuracies)} runs"
        )


def joined(first: Trial, second: Trial) -> Trial:
    """Return two trials of a candidate as one."""
    return Trial(
        first.candidate,
        first.accuracies + second.accuracies,
        first.seconds + second.seconds,
        second.trouble,
        first.metric,
    )


def gain_over(trial: Trial, base: Trial) -> tuple[float, float]:
    """Return what a trial has more than another of the same seeds: mean and standard error."""
    pairs = zip(trial.accuracies, base.accuracies, strict=True)
    gains = [a - b for a, b in pairs]
    return statistics.fmean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
