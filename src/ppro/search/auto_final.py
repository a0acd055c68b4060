"""The training that follows a search: as many runs and epochs as there is time for."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.search.auto import choose
from ppro.search.auto_time import Training
from ppro.search.auto_trials import Choice, Trial
from ppro.search.schedule import schedule_of
from ppro.training.fit import Fit
from ppro.training.threads import available_cores
from ppro.training.trainer import OnEpoch

SEARCH_SHARE = 0.6
"""Share of the time that the search has in any case; what the training does not need it has too."""
LEAST_SEARCH = 0.1
"""Share of the time that it has even where reading the graph took long."""
MARGIN = 0.06
"""Share of the time for measuring and writing what came of the training."""
SPARE = 3.0
"""Times the epochs that were foreseen, for trainings that are faster; the clock ends the others."""
LEAST, MOST = 80, 300
"""Epochs that a run should have, at least, and after which most have settled."""


@dataclass(frozen=True)
class FinalPlan:
    """What fits into the time that is left.

    Args:
        epochs: of a run, at most.
        until: the moment at which training ends.
        note: what a user should know of it, or "".
        foreseen: epochs that a run will have by then, as far as that can be foretold.
    """

    runs: int
    epochs: int
    until: float
    note: str = ""
    foreseen: int = 0


def plan_training(choice: Choice, runs: int, epochs: int, cores: int, until: float) -> FinalPlan:
    """Return how many runs and epochs of the chosen settings there is time for.

    Runs are fewer before epochs are too few to learn in.

    Args:
        runs: how many are wanted.
        epochs: likewise, of a run.
    """
    speed = Training(runs, until, cores).speed
    room = max(until - time.monotonic(), 0.0) * speed / max(choice.epoch_seconds, 1e-6)
    needed = min(_needed(choice.trials[0]), epochs)
    fitting = max(1, min(runs, int(room / needed)))
    if cores < fitting < runs:
        # Cores with as many runs each end at the same time.
        fitting -= fitting % cores
    within = max(1, min(epochs, int(room / fitting)))
    if cores > 1 and runs > 1 and fitting == 1:
        within = max(1, int(within / speed))
    told = []
    if fitting < runs:
        told.append(f"{fitting} of {runs} runs")
    if within < needed:
        told.append(f"{within} epochs")
    note = f"the budget has time for {' and '.join(told)}; a larger --budget has more"
    most = min(epochs, int(SPARE * within) + 1)
    return FinalPlan(fitting, most, until, note if told else "", within)


def _needed(best: Trial) -> int:
    """Return the epochs that a run should have: many where the search saw no end of learning."""
    if best.is_learning:
        return MOST
    return min(max(LEAST, int(1.5 * best.settled) + 60), MOST)


def search_and_plan(
    graph: Graph,
    splits: Splits,
    strategy: str | None,
    given: Mapping[str, Any],
    *,
    runs: int | None = None,
    budget: float,
    start: float,
    **options: Any,
) -> tuple[Choice, FinalPlan]:
    """Find settings for a graph, and plan their training within what is left of the budget.

    Args:
        splits: those of the training, and perhaps more of them.
        runs: how many are to be trained, on the first splits; as many as splits when None.
        given: settings that hold whatever is found.
        start: the moment from which the budget counts.
        options: as for :func:`ppro.search.auto.choose`.
    """
    if budget <= 0:
        raise SettingsError(f"a budget of {budget} s leaves no time; give some seconds")
    fixed = {key: value for key, value in given.items() if key not in ("seed", "strategy")}
    left = max(start + SEARCH_SHARE * budget - time.monotonic(), LEAST_SEARCH * budget)
    cores = options.get("threads") or available_cores()
    runs, until = runs or splits.runs, start + (1 - MARGIN) * budget
    training = Training(runs, until, cores)
    choice = choose(graph, splits, strategy, fixed=fixed, budget=left, training=training, **options)
    plan = plan_training(choice, runs, choice.settings.training.epochs, cores, until)
    own = {key: value for key, value in given.items() if key == "seed"}
    own |= schedule_of({**given, "epochs": plan.foreseen}, choice.settings)
    settings = choice.settings.replace(epochs=plan.epochs, **own)
    return replace(choice, settings=settings), plan


class Deadline:
    """Ends a training at a moment, as Ctrl-C would, and says so."""

    def __init__(self, until: float, on_epoch: OnEpoch | None = None) -> None:
        self.until, self.on_epoch, self.reached = until, on_epoch, False

    def __call__(self, epoch: int, metrics: Tensor, going: int) -> None:
        """Take note of an epoch."""
        if self.on_epoch is not None:
            self.on_epoch(epoch, metrics, going)
        if time.monotonic() > self.until:
            self.reached = True
            raise KeyboardInterrupt


def fit_until(fit: Callable[..., Fit], until: float, *arguments: Any, **options: Any) -> Fit:
    """Train as ``fit`` does, at most until a moment: what there is then is the result."""
    deadline = Deadline(until, options.pop("on_epoch", None))
    result = fit(*arguments, **options, on_epoch=deadline)
    if not deadline.reached:
        return result
    return replace(result, history=replace(result.history, interrupted=False))
