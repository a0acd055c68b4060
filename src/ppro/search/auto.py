"""Settings without tuning: a few recipes that suit different graphs compete for a while.

Nothing but the graph, its training nodes and its validation nodes is looked at. Every candidate
trains for a slice of the time; the better half trains again on more seeds; where time is left, the
best two train once more beside variations of themselves, and then the first three go on for as long
as there is time. The best mean validation score wins: accuracy, or another metric.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.parts import METRICS
from ppro.search.auto_candidates import CANDIDATES, Candidate
from ppro.search.auto_trials import Choice, Trial, gain_over, joined
from ppro.settings.limits import BUDGET, SEARCH_SEED
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from ppro.training.metrics import Metric

FIRST_ROUND = 0.4
"""Share of the time that the first round gets."""
RUNS = (2, 5, 6)
"""Runs of each candidate in the rounds; later ones are like the last of these."""
FINALISTS = 2
"""How many candidates are varied in the third round."""
LAST, MORE_ROUNDS = 3, 5
"""How many candidates go on after that, and for how many rounds at most."""
FEW_LABELS = 0.2
"""Below this share of training nodes the others are worth learning from."""


def choose(
    graph: Graph,
    splits: Splits,
    strategy: str,
    *,
    fixed: Mapping[str, Any] | None = None,
    budget: float = BUDGET,
    device: torch.device | None = None,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Choice:
    """Find settings for a graph within a budget of seconds.

    Args:
        splits: those of the training that follows; test nodes are not looked at.
        fixed: settings that every candidate has, such as the metric that they are ranked by.
        tell: called with a line for each trial.
    """
    if budget <= 0:
        raise SettingsError(f"a budget of {budget} s leaves no time; give some seconds")
    start = time.monotonic()
    clock = _Clock(graph, splits, strategy, device, threads, dict(fixed or {}))
    trials = clock.round(suitable(splits, device), 0, budget * FIRST_ROUND, tell)
    better = sorted(trials, key=lambda t: -t.score)[: max(2, len(trials) // 2)]
    left = budget - (time.monotonic() - start)
    again = clock.round([t.candidate for t in better], 1, left, tell)
    ranked = sorted((joined(a, b) for a, b in zip(better, again, strict=True)), key=_rank)
    ranked = clock.varied(ranked, budget - (time.monotonic() - start), tell)
    ranked = clock.settled(ranked, budget - (time.monotonic() - start), tell)
    others = [t for t in sorted(trials, key=_rank) if t not in better]
    settings = clock.settings(ranked[0].candidate)
    return Choice(settings, (*ranked, *others), time.monotonic() - start)


def suitable(splits: Splits, device: torch.device | None = None) -> list[Candidate]:
    """Return the candidates that can make sense with so many labels, on such a device."""
    few = float(splits.train[0].float().mean()) < FEW_LABELS
    fast = device is not None and device.type == "cuda"
    return [
        candidate
        for candidate in CANDIDATES
        if (few or "consistency" not in candidate.changes) and (fast or not candidate.for_gpu)
    ]


def has_negative(features: Tensor) -> bool:
    """Tell whether some feature is below zero: such are no counts."""
    values = features.values() if features.layout == torch.sparse_csr else features
    return values.numel() > 0 and float(values.min()) < 0


def _rank(trial: Trial) -> float:
    return -trial.score


@dataclass(frozen=True)
class _Clock:
    """Trains candidates, each for its slice of the time."""

    graph: Graph
    splits: Splits
    strategy: str
    device: torch.device | None
    threads: int | None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, candidate: Candidate) -> Settings:
        """Those of a candidate; features with negative values are never made to sum to one."""
        settings = candidate.settings(self.strategy).replace(**self.fixed)
        if settings.inputs.feature_norm == "none" or not has_negative(self.graph.features):
            return settings
        return settings.replace(feature_norm="none")

    def round(
        self,
        candidates: Sequence[Candidate],
        number: int,
        seconds: float,
        tell: Callable[[str], None],
    ) -> list[Trial]:
        """One trial of each candidate; what one leaves of its slice goes to those after it."""
        end, trials = time.monotonic() + seconds, []
        for i, candidate in enumerate(candidates):
            share = (end - time.monotonic()) / (len(candidates) - i)
            trials.append(self._trial(candidate, number, share))
            tell(_line(trials[-1]))
        return trials

    def varied(
        self, ranked: Sequence[Trial], seconds: float, tell: Callable[[str], None]
    ) -> list[Trial]:
        """Return the third round; returns its trials and those before it, the best first.

        A variation is worth what its base is over all rounds, and its gain over the base on the
        same seeds and splits. Gains within their standard error are noise and count for nothing.
        """
        end, found, rest = time.monotonic() + seconds, list[tuple[float, Trial]](), list(ranked)
        for base, variations in affordable(ranked[:FINALISTS], seconds):
            left = end - time.monotonic()
            again, *tried = self.round([base.candidate, *variations], len(RUNS) - 1, left, tell)
            together = joined(base, again)
            rest[rest.index(base)] = together
            for trial in tried:
                gain, error = gain_over(trial, again)
                if gain > error:
                    found.append((together.score + gain, trial))
                else:
                    rest.append(trial)
        known = [(trial.score, trial) for trial in rest[: len(ranked)]]
        best_first = sorted((*known, *found), key=lambda pair: -pair[0])
        return [*(trial for _, trial in best_first), *rest[len(ranked) :]]

    def settled(
        self, ranked: Sequence[Trial], seconds: float, tell: Callable[[str], None]
    ) -> list[Trial]:
        """Rounds of the first few as long as there is time; returns all trials, the best first.

        The first stays so unless another has gained on it, beyond the standard error of the gain,
        over all that both trained here.
        """
        end, first, rest = time.monotonic() + seconds, ranked[:LAST], ranked[LAST:]
        cost = RUNS[-1] * sum(trial.seconds / len(trial.accuracies) for trial in first)
        here = list[list[Trial]]()
        while len(here) < MORE_ROUNDS and time.monotonic() + cost < end:
            left, number = end - time.monotonic(), len(RUNS) + len(here)
            here.append(self.round([trial.candidate for trial in first], number, left, tell))
        if not here:
            return list(ranked)
        shared = [reduce(joined, trials) for trials in zip(*here, strict=True)]
        gains = [gain_over(trial, shared[0]) for trial in shared]
        leads = [gain if gain > error else 0.0 for gain, error in gains]
        best = max(range(len(leads)), key=leads.__getitem__)
        known = [joined(before, after) for before, after in zip(first, shared, strict=True)]
        return [known[best], *known[:best], *known[best + 1 :], *rest]

    def _trial(self, candidate: Candidate, number: int, seconds: float) -> Trial:
        start, runs, before = time.monotonic(), _runs(number), sum(map(_runs, range(number)))
        begin = SEARCH_SEED + before
        settings = [self.settings(candidate).replace(seed=begin + r) for r in range(runs)]
        metric: type[Metric] = METRICS.get(settings[0].training.metric)
        stop = _Stop(start + seconds)
        result: Fit | None = None
        with suppress(torch.OutOfMemoryError):
            result = fit(
                self.graph,
                _rows(self.splits, before, runs),
                settings,
                device=self.device,
                threads=self.threads,
                on_epoch=stop,
                diverged="keep",
            )
        if result is None:
            torch.cuda.empty_cache()
            nothing, trouble = (100 * metric.worth(math.nan),) * runs, "not enough memory"
            return Trial(candidate, nothing, time.monotonic() - start, trouble, metric.name)
        if result.history.interrupted and not stop.reached:
            raise KeyboardInterrupt
        scores = tuple(100 * metric.worth(score) for score in result.val_score.tolist())
        trouble = "cut short" if result.history.interrupted else ""
        return Trial(candidate, scores, time.monotonic() - start, trouble, metric.name)


def _runs(number: int) -> int:
    """Runs of each candidate in a round."""
    return RUNS[min(number, len(RUNS) - 1)]


def affordable(
    finalists: Sequence[Trial], seconds: float
) -> list[tuple[Trial, Sequence[Candidate]]]:
    """The finalists that there is time to vary, by what their runs took, each with variations."""
    families: list[tuple[Trial, Sequence[Candidate]]] = []
    for trial in finalists:
        cost = RUNS[-1] * trial.seconds / len(trial.accuracies)
        # One of the trials is of the finalist as it is.
        room = int(seconds / cost) - 1
        variations = trial.candidate.variations()[: max(room, 0)]
        if variations:
            families.append((trial, variations))
            seconds -= cost * (len(variations) + 1)
    return families


class _Stop:
    """Ends a training at a moment, as Ctrl-C would."""

    def __init__(self, deadline: float) -> None:
        self.deadline, self.reached = deadline, False

    def __call__(self, epoch: int, metrics: Tensor, going: int) -> None:
        if time.monotonic() > self.deadline:
            self.reached = True
            raise KeyboardInterrupt


def _rows(splits: Splits, first: int, runs: int) -> Splits:
    """Some rows of the splits, over and over where there are fewer, without test nodes."""
    rows = (torch.arange(runs) + first) % splits.train.shape[0]
    return splits.take(rows).without_test()


def _line(trial: Trial) -> str:
    trouble = f", {trial.trouble}" if trial.trouble else ""
    runs = len(trial.accuracies)
    return (
        f"{trial.candidate.name}: validation {trial.shown} ({runs} runs, "
        f"{trial.seconds:.0f} s{trouble})"
    )
