"""One worker of a study: claims batches of trials and trains them until there are no more."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from ppro.parts import METRICS
from ppro.search.tuning.evaluation import Evaluator, evaluate
from ppro.search.tuning.study import SharedStudy
from ppro.training.metrics import Metric
from ppro.training.trainer import OnEpoch

Tell = Callable[[str], None]
Watch = Callable[[], AbstractContextManager[OnEpoch]]


@dataclass(frozen=True)
class Limits:
    """When a worker ends.

    Args:
        trials: configurations of the study in all, over all workers.
        batch: configurations of a batch.
        timeout: seconds after which no further batch begins; None for no limit.
    """

    trials: int
    batch: int
    timeout: float | None = None


def work(
    study: SharedStudy, evaluator: Evaluator, limits: Limits, tell: Tell, watch: Watch
) -> None:
    """Train trials until the study has enough; an error or Ctrl-C gives those under way back."""

    def on_lost(lost: int) -> None:
        tell(f"{_trials(lost)} of workers that have died: queued again")

    start = time.monotonic()
    try:
        while not _is_over(start, limits):
            begin = time.monotonic()
            trials = study.claim(limits.batch, limits.trials, on_lost)
            if not trials:
                break
            with watch() as on_epoch:
                pruned = evaluate(study, study.space, trials, evaluator, on_epoch)
            metric = METRICS.get(evaluator.base.training.metric)
            reached = _reached(study, metric)
            tell(_line(study, limits, len(trials), pruned, time.monotonic() - begin, reached))
    except BaseException:
        # Where this fails too, the next worker that claims a batch finds them.
        with suppress(Exception):
            tell(f"{_trials(study.give_back())} under way: queued again")
        raise


def _is_over(start: float, limits: Limits) -> bool:
    return limits.timeout is not None and time.monotonic() - start >= limits.timeout


def _reached(study: SharedStudy, metric: type[Metric]) -> str:
    best = study.complete()
    if not best or best[0].value is None:
        return "no best yet"
    return f"best {metric.shown(metric.of_worth(best[0].value / 100))} (trial {best[0].number})"


def _line(
    study: SharedStudy, limits: Limits, number: int, pruned: int, seconds: float, reached: str
) -> str:
    done = study.counts().tried
    left = seconds / number * max(0, limits.trials - done)
    time_left = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    return (
        f"[{done}/{limits.trials}] batch of {number}, {pruned} pruned, {seconds:.0f} s: {reached}, "
        f"about {time_left} left for one worker"
    )


def _trials(number: int) -> str:
    return "1 trial" if number == 1 else f"{number} trials"
