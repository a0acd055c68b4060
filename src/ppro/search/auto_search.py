"""The rungs of an automatic search: how long candidates train, which go on, which one wins."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch

from ppro.search.auto_candidates import LEARNING, Candidate
from ppro.search.auto_picking import (
    best_of,
    going_on,
    is_settled,
    least_error,
    near_best,
    of_each_kind,
    price_of_controllers,
    rank,
    runs_to_tell,
    within,
)
from ppro.search.auto_race import Race, Racer, common_epochs, trials_of
from ppro.search.auto_time import SIDE_BY_SIDE, Training
from ppro.search.auto_trials import Choice, Trial, best_first, joined, leaders

FIRST, SECOND = 0.45, 0.65
"""Shares of the time after which the first and the second rung end."""
BEFORE_CONTROLLERS, TAUGHT = 0.5, 3
"""Share of these where controllers come after them, and how many of the best get them."""
GLANCE, LEAST_EPOCHS, USUAL_EPOCHS = 10, 30, 60
"""Epochs that a candidate must have time for to be tried; that it must have time for to stay after
them; and that every candidate gets before any gets further runs."""
FIRST_EPOCHS, SECOND_EPOCHS = 80, 200
"""Epochs of the first two rungs, at most."""
STEP, GLANCED = 5, 0.5
"""Epochs between two looks at the clock, and the share of the first rung that a glance may take."""
FEWEST = 3
"""Candidates that compete, where any do."""
KEPT, VARIED, VARIATIONS = 5, 2, 8
"""Candidates that go on after the first rung, how many are varied, and how often."""
LAST, ROUNDS = 3, 6
"""How many of the best train on further seeds while there is time, and how often."""
OF_CONTROLLERS, OF_VARIATIONS = 0.6, 0.6
"""Shares of the time that is left that these may take, one after the other."""


@dataclass(frozen=True)
class Search:
    """The rungs of a search, from one moment to another.

    Args:
        training: what follows; where it leaves more time, the later rungs have that too.
    """

    race: Race
    strategy: str | None
    start: float
    until: float
    training: Training | None = None

    def choice(self, candidates: Sequence[Candidate]) -> Choice:
        """Let the candidates compete."""
        first = self._probed(candidates[:1])
        entered, runs = self._affordable(candidates, first)
        if len(entered) < 2:
            return self._untried(candidates[0], first)
        reused = [first] if runs == first.runs else []
        fresh = [self._entered([c], runs) for c in entered[len(reused) :]]
        racers = [*reused, *(racer for racer in fresh if racer is not None)]
        self._advance(racers, GLANCE, self._share(FIRST))
        racers = self._reachable(racers)
        self._advance(racers, FIRST_EPOCHS, self._share(FIRST))
        tried = self._told("first rung", racers)
        kept = going_on(racers, KEPT)
        later = self._shorter(kept)
        later._advance(kept, SECOND_EPOCHS, self._share(SECOND))
        self._told("second rung", kept)
        later = later._shorter(kept)._longer(kept, taught=self.strategy != "none")
        alive = [*kept, *later._third(kept)] if self._is_bare else later._taught(kept)
        trials = later._longer(alive)._settled(alive, alive[0].runs)
        winner, names = trials[0].candidate, {trial.candidate.name for trial in trials}
        others = sorted((t for t in tried if t.candidate.name not in names), key=rank)
        cost = next(racer.run_seconds for racer in alive if winner in racer.candidates)
        return Choice(winner.settings(self.race.given), (*trials, *others), self._spent(), cost)

    def _longer(self, racers: Sequence[Racer], taught: bool = False) -> Self:
        """Return the search with the time that training the best of them will leave."""
        until = self.until if self.training is None else self.training.begins(racers, taught)
        return replace(self, until=max(self.until, until))

    def _shorter(self, racers: Sequence[Racer]) -> Self:
        """Return the search without the time that the best, still learning, needs afterwards."""
        if self.training is None or not self._is_bare:
            return self
        return replace(self, until=min(self.until, self.training.of_learners(racers)))

    def _probed(self, candidates: Sequence[Candidate]) -> Racer:
        """Return the first candidate after a few epochs: with many runs, where they are cheap.

        On a GPU the very first compiles what others use too, so that another one is timed.
        """
        racer = self.race.enter(candidates, 1)
        self.race.advance([racer], 3, self.until)
        cheap = racer.epoch_seconds * self._most_runs * 10 <= self._room() / 20
        runs = self._most_runs if cheap else 1
        if runs == 1 and self.race.device.type != "cuda":
            return racer
        racer = self.race.enter(candidates, runs)
        self.race.advance([racer], 10, self.until)
        return racer

    def _untried(self, candidate: Candidate, racer: Racer) -> Choice:
        """Return the first candidate, for want of time to try others."""
        told = "there is no time to try others; a larger --budget has it"
        candidate = candidate if self._is_bare else self._wanted(candidate)[0]
        trial = Trial(candidate, (), racer.seconds, metric=racer.metric.name)
        own = candidate.settings(self.race.given), (trial,)
        return Choice(*own, self._spent(), racer.epoch_seconds, told)

    def _affordable(
        self, candidates: Sequence[Candidate], first: Racer
    ) -> tuple[list[Candidate], int]:
        """Return the candidates that there is time for in the first rung, and their runs."""
        unit = first.run_seconds / candidates[0].cost
        room = (self._share(FIRST) - time.monotonic()) * self._speed
        entered, cost = list[Candidate](), 0.0
        for candidate in candidates:
            more = candidate.cost * unit
            share = GLANCED if len(entered) >= FEWEST else 1.0
            if (cost + more) * GLANCE + first.start_seconds <= share * room:
                entered.append(candidate)
                cost += more
                room -= first.start_seconds
        return entered, max(
            1, min(self._most_runs, int(room / (cost * USUAL_EPOCHS)) if cost else 1)
        )

    def _reachable(self, racers: Sequence[Racer]) -> list[Racer]:
        """Return the racers that there is time for after all, now that all have been timed.

        The least promising are left out until the others reach enough epochs.
        """
        room = (self._share(FIRST) - time.monotonic()) * self._speed
        kept = within(racers, LEAST_EPOCHS, room, FEWEST)
        if len(kept) < len(racers):
            self.race.say(f"{len(racers) - len(kept)} left out for want of time")
        return kept

    def _entered(self, candidates: Sequence[Candidate], runs: int, first: int = 0) -> Racer | None:
        try:
            return self.race.enter(candidates, runs, first)
        except torch.OutOfMemoryError:
            return None

    def _advance(self, racers: Sequence[Racer], most: int, until: float) -> None:
        """Train all to the same epoch: as many as there is time for, until none gets better."""
        while (done := common_epochs(racers)) < most:
            ahead = sum(racer.epoch_seconds for racer in racers) / self._speed
            if done and (time.monotonic() + STEP * ahead > until or is_settled(racers, done)):
                return
            if not self.race.advance(racers, done + STEP, self.until):
                return

    def _third(self, kept: Sequence[Racer]) -> list[Racer]:
        """Return variations of the best, and one of them under controllers, trained as long.

        Those that do not get there in time do not count.
        """
        bases, goal, left = best_of(kept, VARIED), common_epochs(kept), self._room()
        more, price = self._controlled(bases, kept)
        if more:
            longer = sum(racer.epoch_seconds for racer in kept) * max(LEARNING - goal, 0)
            goal = max(goal, LEARNING)
            left -= longer + len(more) * price * goal
        more += self._varied(near_best(bases), goal, OF_VARIATIONS * left)
        if more and self.race.advance([*kept, *more], goal, self.until):
            self._told("third rung", [*kept, *more])
        return [racer for racer in more if racer.epochs >= common_epochs(kept)]

    def _taught(self, kept: Sequence[Racer]) -> list[Racer]:
        """Return the best networks under the controllers that were asked for, one of them always.

        Those that do not get as far as the others do not count.
        """
        bases, found, room = best_of(kept, TAUGHT), list[Racer](), self._room()
        usual = len(bases) * LEARNING * price_of_controllers(bases[0])
        runs = bases[0].runs if usual <= room else 1
        for base in bases:
            price = LEARNING * price_of_controllers(base) * runs / base.runs
            if not found or price <= room:
                found.append(self.race.enter(self._wanted(base.candidates[0]), runs))
                room -= price
        self._advance(found, LEARNING, self.until)
        if not common_epochs(found):
            found = found[:1]
            self.race.advance(found, 1, math.inf)
        self._told("under controllers", found)
        return found

    def _wanted(self, candidate: Candidate) -> list[Candidate]:
        """Return a candidate under the strategy that was asked for."""
        return candidate.controlled((str(self.strategy),))

    def _controlled(
        self, bases: Sequence[Racer], kept: Sequence[Racer]
    ) -> tuple[list[Racer], float]:
        """Return the best network under the controllers there is time for, and an epoch's price."""
        if self.strategy is not None:
            return [], 0.0
        epochs = common_epochs(kept)
        longer = sum(racer.epoch_seconds for racer in kept) * max(LEARNING - epochs, 0)
        room = OF_CONTROLLERS * self._room() - longer
        for base in bases:
            price = price_of_controllers(base)
            fits = max(0, int(room / (price * max(epochs, LEARNING))))
            wanted = base.candidates[0].controlled()[:fits]
            entered = [self._entered([candidate], base.runs) for candidate in wanted]
            if found := [racer for racer in entered if racer is not None]:
                return found, price
        return [], 0.0

    def _varied(self, bases: Sequence[Racer], epochs: int, room: float) -> list[Racer]:
        """Return variations of each of the best, as many as there is time for.

        What one leaves of its share, the next may use.
        """
        found = list[Racer]()
        for i, base in enumerate(bases):
            price = base.epoch_seconds * epochs
            fits = max(0, min(VARIATIONS, int(room / (len(bases) - i) / price)))
            variations = base.candidates[0].variations(self.race.given)[:fits]
            if variations and (racer := self._entered(variations, base.runs)):
                found.append(racer)
                room -= fits * price
        return found

    def _told(self, rung: str, racers: Sequence[Racer]) -> list[Trial]:
        """Tell which lead; return the trials of all of them."""
        epochs = common_epochs(racers)
        trials = sorted(trials_of(racers, epochs), key=rank)
        self.race.say(f"{rung}, {leaders(trials)}")
        return trials

    def _settled(self, racers: Sequence[Racer], runs: int) -> list[Trial]:
        """Return all trials, the one to choose first, after further runs of the best few."""
        epochs = common_epochs(racers)
        error = least_error(self._judges * min(runs, self.race.splits.runs))
        trials = best_first(trials_of(racers, epochs), error)
        costs = {c.name: racer.run_seconds for racer in racers for c in racer.candidates}
        last = of_each_kind(trials)[:LAST]
        others = [trial for trial in trials if trial not in last]
        price = sum(costs[t.candidate.name] for t in last) * runs * epochs
        for again in range(1, ROUNDS + 1):
            if len(last) < 2 or price > self._room():
                break
            more = [self._entered([t.candidate], runs, again * runs) for t in last]
            going = [racer for racer in more if racer is not None]
            if len(going) < len(last) or not self.race.advance(going, epochs, self.until):
                break
            found = [joined(t, r.trials(epochs)[0]) for t, r in zip(last, going, strict=True)]
            last = best_first(found, error / math.sqrt(again + 1))
            best = last[0]
            self.race.say(f"on further seeds as well: {best.candidate.name} {best.shown}")
        return [*last, *others]

    @property
    def _is_bare(self) -> bool:
        """Tell whether networks without controllers may be chosen."""
        return self.strategy in (None, "none")

    @property
    def _judges(self) -> int:
        """Return the number of validation nodes of a run."""
        return int(self.race.splits.val[0].sum())

    @property
    def _most_runs(self) -> int:
        """Return how many runs of a candidate so few validation nodes ask for."""
        return runs_to_tell(self._judges)

    @property
    def _speed(self) -> float:
        """Return how many racers train as fast as one does alone."""
        cores = 1 if self.race.device.type == "cuda" else self.race.cores
        return 1.0 if cores == 1 else SIDE_BY_SIDE * cores

    def _room(self) -> float:
        """Return the seconds of one core that are left."""
        return (self.until - time.monotonic()) * self._speed

    def _share(self, share: float) -> float:
        """Return the moment at which a share of the time is over."""
        of_all = 1.0 if self._is_bare else BEFORE_CONTROLLERS
        return self.start + of_all * share * (self.until - self.start)

    def _spent(self) -> float:
        return time.monotonic() - self.start
