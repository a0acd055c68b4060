"""A study that several workers share: trials are claimed in batches, and none is left behind."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.exceptions import DuplicatedStudyError, UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from ppro.errors import RunError, SettingsError
from ppro.search.tuning.guards import new_worker
from ppro.search.tuning.pruning import KEPT, TopShare
from ppro.search.tuning.sampling import BatchSampler, key_of
from ppro.search.tuning.spaces import SHAPE, SearchSpace
from ppro.search.tuning.storage import StudyPlace
from ppro.search.tuning.subject import read_identity

MAX_RETRIES = 3
"""A trial whose workers died as often is not tried again: it may be what they died of."""
IDENTITY = "identity"
WORKER = "worker"
COUNTED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)


@dataclass(frozen=True)
class TrialCounts:
    """How many configurations of a study are in which state."""

    complete: int
    pruned: int
    running: int
    failed: int

    @property
    def tried(self) -> int:
        """Configurations with a result."""
        return self.complete + self.pruned


class SharedStudy:
    """A study as one worker sees it.

    Args:
        place: where it is kept.
        name: its name there.
        space: what is searched.
        identity: what the study is about; a study is only gone on with where it is the same.
        prune: whether configurations that begin badly are given up.

    Raises:
        RunError: the study of that name is about something else.
    """

    def __init__(
        self,
        place: StudyPlace,
        name: str,
        space: SearchSpace,
        identity: dict[str, Any],
        *,
        prune: bool = True,
        seed: int = 0,
    ) -> None:
        self.guard, self.space, self.seed = place.guard, space, seed
        self.worker = new_worker()
        with self.guard.exclusive():
            self.study = _opened(place, name)
            self.study.pruner = TopShare(KEPT) if prune else optuna.pruners.NopPruner()
            self._check(identity)

    def _check(self, identity: dict[str, Any]) -> None:
        known = self.study.user_attrs.get(IDENTITY)
        if known is None:
            for params in self.space.begin_with():
                self.study.enqueue_trial(params)
            self.study.set_user_attr(IDENTITY, identity)
            return
        try:
            known = read_identity(known)
        except (ValueError, KeyError, TypeError, AttributeError, SettingsError):
            raise RunError(
                f"study {self.study.study_name}: what it was begun with cannot be read; begin "
                "another --study"
            ) from None
        differing = sorted(k for k in identity | known if identity.get(k) != known.get(k))
        if differing:
            raise RunError(
                f"study {self.study.study_name} was begun with another {', '.join(differing)}; "
                "give those it was begun with, or another --study"
            )

    def claim(
        self, number: int, limit: int, on_lost: Callable[[int], None] = lambda lost: None
    ) -> list[Trial]:
        """Take trials to train: those that lost their worker first, then new ones of one program.

        Args:
            number: how many at most.
            limit: how many configurations the study may have in all.
            on_lost: called with the number of trials whose worker has died since the last look.
        """
        self.guard.show_life(self.worker)
        with self.guard.exclusive():
            if lost := self._recover():
                on_lost(lost)
            trials = self.study.get_trials(deepcopy=False)
            limit = limit if self.space.size is None else min(limit, self.space.size)
            number = min(number, limit - sum(t.state in COUNTED for t in trials))
            known = (_params(t) for t in trials if t.state != TrialState.FAIL)
            tried = {key_of(params): params.get(SHAPE, "") for params in known}
            self.study.sampler = BatchSampler(self.space, tried, self.seed + len(trials))
            waiting = sum(t.state == TrialState.WAITING for t in trials)
            return self._ask(number, waiting, self.study.sampler)

    def _ask(self, number: int, waiting: int, sampler: BatchSampler) -> list[Trial]:
        """Ask for trials; the first of them decides of which shape the new ones are."""
        claimed: list[Trial] = []
        while len(claimed) < number:
            trial = self.study.ask(self.space.distributions)
            trial.set_user_attr(WORKER, self.worker)
            sampler.tried[key_of(trial.params)] = trial.params[SHAPE]
            claimed.append(trial)
            if sampler.shape is None:
                sampler.shape = trial.params[SHAPE]
                number = min(number, max(1, waiting) + sampler.untried_of_shape())
        return claimed

    def _recover(self) -> int:
        """Fail the trials of dead workers and queue them again; returns how many there were."""
        owners = {trial.user_attrs.get(WORKER) for trial in self._running()}
        # A trial gets its worker while that one is alone with the study: one without has none.
        dead = {o for o in owners if o is None or not self.guard.is_alive(o)}
        # Look again: a worker that ended well between the two looks has told its results by now.
        return self._fail([t for t in self._running() if t.user_attrs.get(WORKER) in dead])

    def give_back(self) -> int:
        """Fail this worker's own running trials and queue them again; returns their number."""
        with self.guard.exclusive():
            own = (None, self.worker)
            return self._fail([t for t in self._running() if t.user_attrs.get(WORKER) in own])

    def _running(self) -> list[FrozenTrial]:
        return self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))

    def _fail(self, lost: Sequence[FrozenTrial]) -> int:
        for trial in lost:
            with suppress(UpdateFinishedTrialError):
                self.study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)
        self._queue_failed()
        return len(lost)

    def _queue_failed(self) -> None:
        """Queue every configuration that has failed and is neither running nor waiting.

        Only the study decides what that is, so a worker that dies in here leaves nothing undone.
        """
        trials = self.study.get_trials(deepcopy=False)
        elsewhere = {key_of(_params(t)) for t in trials if t.state != TrialState.FAIL}
        failed = [_params(t) for t in trials if t.state == TrialState.FAIL]
        # A worker that died while it was asking may have left a part of the choices.
        whole = [p for p in failed if p.keys() == self.space.distributions.keys()]
        times = Counter(map(key_of, whole))
        for key, params in {key_of(params): params for params in whole}.items():
            if key not in elsewhere and times[key] <= MAX_RETRIES:
                self.study.enqueue_trial(params)

    def report(self, trial: Trial, step: int, value: float) -> None:
        """Tell what a trial has reached so far."""
        with suppress(UpdateFinishedTrialError):
            trial.report(value, step)

    def finish(self, trial: Trial, value: float | None, facts: dict[str, Any]) -> None:
        """Tell the result of a trial, or None of one that was pruned.

        Where another worker took this one for dead, it has queued the trial again, and this result
        is not needed any more.
        """
        state = TrialState.PRUNED if value is None else TrialState.COMPLETE
        with suppress(UpdateFinishedTrialError):
            for key, fact in facts.items():
                trial.set_user_attr(key, fact)
            self.study.tell(trial, value, state=state, skip_if_finished=True)

    def complete(self) -> list[FrozenTrial]:
        """Return the trials that ran on every seed, the best first."""
        found = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return sorted(found, key=lambda trial: (-_value(trial), trial.number))

    def counts(self) -> TrialCounts:
        """Return the trials so far."""
        count = Counter(trial.state for trial in self.study.get_trials(deepcopy=False))
        states = TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING, TrialState.FAIL
        return TrialCounts(*(count[state] for state in states))


def _params(trial: FrozenTrial) -> dict[str, Any]:
    """Return the choices of a trial, also of one that waits."""
    return {**trial.system_attrs.get("fixed_params", {}), **trial.params}


def _value(trial: FrozenTrial) -> float:
    assert trial.value is not None
    return trial.value


def _opened(place: StudyPlace, name: str) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with suppress(DuplicatedStudyError):
        return optuna.create_study(storage=place.storage, study_name=name, direction="maximize")
    return optuna.load_study(storage=place.storage, study_name=name)
