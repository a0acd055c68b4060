"""What the candidates of an automatic search reached, and what was chosen."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ppro.parts import METRICS
from ppro.search.auto_candidates import Candidate
from ppro.settings.settings import Settings
from ppro.training.metrics import Metric

NOISE, MOST_GIVEN_UP = 0.5, 0.5
"""Differences below so many standard errors do not count against the simpler candidate, unless they
are of more points than this: where few nodes validate, noise hides much that is real."""
STILL_LEARNING = 0.85
"""Share of the epochs after which a best state tells that there is more to come."""


@dataclass(frozen=True)
class Trial:
    """What a candidate reached on the validation nodes of each of its runs.

    Args:
        accuracies: times a hundred; of another metric its worth, so that more is better.
        trouble: what kept it from training; then its runs count for nothing.
        metric: what was measured.
        epochs: after how many it was compared with others for the last time.
        settled: the epoch with the best state, on average.
    """

    candidate: Candidate
    accuracies: tuple[float, ...]
    seconds: float
    trouble: str = ""
    metric: str = "accuracy"
    epochs: int = 0
    settled: float = 0.0

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

    @property
    def is_learning(self) -> bool:
        """Tell whether it was still becoming better when it was compared."""
        return self.settled > STILL_LEARNING * self.epochs

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        metric: type[Metric] = METRICS.get(self.metric)
        worth = [metric.of_worth(value / 100) for value in self.accuracies]
        return {
            "candidate": self.candidate.name,
            "validation_mean": statistics.fmean(worth),
            "validation": worth,
            "epochs": self.epochs,
            **({"trouble": self.trouble} if self.trouble else {}),
        }


@dataclass(frozen=True)
class Choice:
    """The settings that won, and what was tried, the best first.

    Args:
        seconds: what the search took.
        epoch_seconds: what an epoch of one run of the winner takes on one core.
        told: what a user should know of it.
    """

    settings: Settings
    trials: tuple[Trial, ...]
    seconds: float
    epoch_seconds: float = 0.0
    told: str = ""

    @property
    def reason(self) -> str:
        """Return one sentence for the user."""
        best = self.trials[0]
        chose = f"chose '{best.candidate.name}' ({best.candidate.why})"
        if not best.accuracies:
            return f"{chose}: {self.told}"
        runs = len(best.accuracies)
        told = f"; {self.told}" if self.told else ""
        many = "one run" if runs == 1 else f"{runs} runs"
        return f"{chose}: validation {best.shown} over {many}{told}"

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the best of each kind that was tried: validation, what, epochs."""
        best: dict[str, Trial] = {}
        for trial in self.trials:
            if trial.accuracies:
                best.setdefault(trial.candidate.kind, trial)
        return [(t.trouble or t.shown, t.candidate.name, str(t.epochs)) for t in best.values()]

    def facts(self) -> dict[str, Any]:
        """Return what was tried and chosen as plain values."""
        return {
            "chosen": self.trials[0].candidate.name,
            "reason": self.reason,
            "seconds": round(self.seconds, 1),
            "metric": self.trials[0].metric,
            "tried": [trial.facts() for trial in self.trials if trial.accuracies],
        }


def leaders(trials: Sequence[Trial]) -> str:
    """Return the best of some trials of as many epochs and runs, the best first."""
    best = ", ".join(f"{trial.candidate.name} {trial.shown}" for trial in trials[:3])
    number, epochs = len(trials[0].accuracies), trials[0].epochs
    runs = "one run" if number == 1 else f"{number} runs"
    return f"{len(trials)} tried, {epochs} epochs, {runs} each: {best}"


def joined(first: Trial, second: Trial) -> Trial:
    """Return two trials of a candidate as one."""
    return replace(
        first,
        accuracies=first.accuracies + second.accuracies,
        seconds=first.seconds + second.seconds,
        trouble=first.trouble or second.trouble,
    )


def gain_over(trial: Trial, base: Trial) -> tuple[float, float]:
    """Return what a trial has more than another of the same seeds: mean and standard error.

    Of a single run the error is not known, and infinite.
    """
    pairs = zip(trial.accuracies, base.accuracies, strict=True)
    gains = [a - b for a, b in pairs]
    if len(gains) == 1:
        return gains[0], math.inf
    return statistics.fmean(gains), statistics.stdev(gains) / math.sqrt(len(gains))


def best_first(trials: Sequence[Trial], least_error: float) -> list[Trial]:
    """Return trials of the same seeds and epochs, the one to choose first, others by their mean.

    Chosen is the simplest of those that the best is not better than beyond noise; where the best is
    still learning, it is chosen itself.

    Args:
        least_error: standard error of a difference, at least: that of the validation nodes.
    """
    ranked = sorted(trials, key=lambda trial: -trial.score)
    best = ranked[0]
    if best.is_learning:
        return ranked

    def is_level(trial: Trial) -> bool:
        gain, error = gain_over(best, trial)
        error = least_error if math.isinf(error) else max(error, least_error / 2)
        return not trial.trouble and gain <= min(NOISE * error, MOST_GIVEN_UP)

    level = [trial for trial in ranked if trial is best or is_level(trial)]
    first = min(level, key=lambda trial: trial.candidate.simplicity)
    return [first, *(trial for trial in ranked if trial is not first)]
