"""Which candidates go on to the next rung, and what their training is expected to cost."""

import math
from collections.abc import Sequence

from ppro.search.auto_candidates import STEPS
from ppro.search.auto_race import Racer, common_epochs, trials_of
from ppro.search.auto_trials import Trial

QUIET = 60
"""Epochs without a better state after which more of them would tell nothing."""
FAR = 3.0
"""Points that a variation hardly ever gains."""
RUNS_BY_VALIDATION = ((200, 10), (800, 5), (2000, 3), (5000, 2))
"""Fewer validation nodes than the first number ask for so many runs of a candidate."""
JUDGED = 5.0
"""What controllers cost in terms of their backbone: that of those that judge them, too."""


def rank(trial: Trial) -> float:
    """Return what trials are sorted by, the best first."""
    return -trial.score


def best_of(racers: Sequence[Racer], number: int) -> list[Racer]:
    """Return the racers of the best mean score."""
    epochs = common_epochs(racers)
    going = [racer for racer in racers if not racer.trouble]
    return sorted(going, key=lambda racer: rank(racer.trials(epochs)[0]))[:number]


def promising(racers: Sequence[Racer]) -> list[Racer]:
    """Return the racers that can train at all, those first that will be best if they go on so.

    A slow learner may end above all others.
    """
    epochs = common_epochs(racers)

    def expected(racer: Racer) -> float:
        now, before = (racer.trials(at)[0].score for at in (epochs, max(1, epochs // 2)))
        return 2 * now - before

    going = [racer for racer in racers if not racer.trouble]
    return sorted(going, key=expected, reverse=True)


def within(racers: Sequence[Racer], epochs: int, room: float, fewest: int) -> list[Racer]:
    """Return the racers that have time for so many epochs, the least promising left out.

    Args:
        room: seconds that they may take.
        fewest: how many are kept in any case.
    """
    kept = promising(racers)
    while len(kept) > fewest and room < sum(r.epoch_seconds * (epochs - r.epochs) for r in kept):
        kept.pop()
    return kept


def going_on(racers: Sequence[Racer], number: int) -> list[Racer]:
    """Return the racers that go on: the best, of different families where these are near it.

    The last of them is the most promising of all others.
    """
    ranked = best_of(racers, len(racers))
    families = {racer.candidates[0].family: racer for racer in reversed(ranked)}
    first = [racer for racer in near_best(ranked) if families[racer.candidates[0].family] is racer]
    order = [*first, *(racer for racer in ranked if racer not in first)]
    return [*order[: number - 1], *promising(order[number - 1 :])[:1]]


def near_best(racers: Sequence[Racer]) -> list[Racer]:
    """Return the best racers without those that no variation will bring up to the first."""
    epochs = common_epochs(racers)
    scores = [racer.trials(epochs)[0].score for racer in racers]
    least = max(scores, default=0.0) - FAR
    return [r for r, score in zip(racers, scores, strict=True) if score >= least]


def of_each_kind(trials: Sequence[Trial]) -> list[Trial]:
    """Return the first trial of each kind: variations of one would all rest on the same luck."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.candidate.kind, trial)
    return list(first.values())


def is_settled(racers: Sequence[Racer], epochs: int) -> bool:
    """Tell whether no candidate has become better for long."""
    return all(trial.settled < epochs - QUIET for trial in trials_of(racers, epochs))


def runs_to_tell(judges: int) -> int:
    """Return how many runs of a candidate so few validation nodes ask for."""
    return next((runs for below, runs in RUNS_BY_VALIDATION if judges < below), 1)


def least_error(judges: int) -> float:
    """Return the standard error of a score near 80 %, over so many validation nodes."""
    return 100 * math.sqrt(0.16 / max(judges, 1))


def price_of_controllers(base: Racer) -> float:
    """Return what an epoch of a network under controllers takes, as far as that can be foretold."""
    own = base.candidates[0]
    steps, most = int(own.changes.get("max_steps", STEPS)), own.most_steps
    if own.changes.get("backbone", "appnp") == "appnp":
        return JUDGED * base.epoch_seconds * (1.0 if 2 * steps >= most else 1.6)
    return JUDGED * base.epoch_seconds * (most + 1) / (steps + 1)
