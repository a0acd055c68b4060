"""Candidates in training that are halted and taken up again, so that nothing is trained twice."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import torch

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.nn.network import Inputs
from ppro.parts import METRICS
from ppro.search.auto_candidates import Candidate
from ppro.search.auto_trials import Trial
from ppro.settings.limits import SEARCH_SEED
from ppro.settings.settings import Settings
from ppro.training.assembly import prepare_inputs
from ppro.training.class_weights import class_weights, weights_of_settings
from ppro.training.fit import Task
from ppro.training.metrics import Metric
from ppro.training.stopping import MEASURED
from ppro.training.threads import use_threads

MOST_EPOCHS = 400
"""Epochs of a candidate in a search, at most."""
TELL_EVERY, NAP = 4.0, 0.1
"""Seconds between two lines on how it goes, and between two looks at the clock."""
WINDOW = 3
"""Epochs whose mean counts, so that one lucky epoch does not."""
NO_MEMORY = "not enough memory"
_SCORE = MEASURED.index("val_score")


class Racer:
    """A batch of candidates of one shape in training, each with the same seeds and splits.

    Args:
        candidates: which of them; they differ in numbers alone.
        task: makes their trainer; ``len(candidates)`` times the runs.
        runs: of each candidate.
    """

    def __init__(self, candidates: Sequence[Candidate], task: Task, runs: int) -> None:
        self.candidates, self.runs = tuple(candidates), runs
        self.metric: type[Metric] = METRICS.get(task.settings[0].training.metric)
        self.trainer = task.trainer(slice(None), task.model(slice(None)), None)
        self._epoch: Callable[[], None] | None = None
        self.epochs, self.seconds, self.trouble, self._slow = 0, 0.0, "", 0.0

    @property
    def epoch_seconds(self) -> float:
        """Return what an epoch of all its runs takes; the first, which makes ready, is left out."""
        timed = self.epochs - 1 if self.epochs > 1 else 1
        return max(self.seconds - self._slow, 1e-6) / timed

    @property
    def start_seconds(self) -> float:
        """Return what recording its program took on a GPU; elsewhere others share what is made."""
        if self.epochs < 2 or not self.trainer.record.now.is_cuda:
            return 0.0
        return max(self._slow - self.epoch_seconds, 0.0)

    def advance(self, epochs: int, is_over: Callable[[], bool]) -> None:
        """Train until it has so many epochs, or until it is told that time is over."""
        try:
            while self.epochs < epochs and not is_over():
                begin = time.monotonic()
                if self._epoch is None:
                    self._epoch = self.trainer.program()
                self._epoch()
                if self.trainer.record.now.is_cuda:
                    torch.cuda.synchronize()
                self.epochs += 1
                self.seconds += time.monotonic() - begin
                if self.epochs == 1:
                    self._slow = self.seconds
        except torch.OutOfMemoryError:
            self.trouble = NO_MEMORY

    def trials(self, epochs: int) -> list[Trial]:
        """Return what each candidate reached within so many epochs, at least one."""
        log = self.trainer.record.log[:epochs, _SCORE].cpu().tolist()
        worth = torch.tensor([[100 * self.metric.worth(value) for value in row] for row in log])
        # Epochs that were not validated, such as the warm-up of controllers, count as the worst.
        best, at = worth.unfold(0, min(WINDOW, epochs), 1).mean(-1).max(0)
        if self.trouble:
            best = torch.full_like(best, 100 * self.metric.worth(math.nan))
        told: Any = {"trouble": self.trouble, "metric": self.metric.name, "epochs": epochs}
        return [
            Trial(
                candidate,
                tuple(best[own].tolist()),
                self.seconds / len(self.candidates),
                settled=float(at[own].float().mean()),
                **told,
            )
            for candidate, own in zip(self.candidates, self._own(), strict=True)
        ]

    def _own(self) -> list[slice]:
        """Return the runs of each candidate."""
        return [slice(i * self.runs, (i + 1) * self.runs) for i in range(len(self.candidates))]

    @property
    def run_seconds(self) -> float:
        """Return what an epoch of one run takes."""
        return self.epoch_seconds / (self.runs * len(self.candidates))


@dataclass
class Race:
    """Makes racers, and advances them side by side.

    Args:
        splits: test nodes are taken out of them.
        given: settings that all candidates have.
        cores: racers that train at once.
        tell: called with a line now and then.
    """

    graph: Graph
    splits: Splits
    given: dict[str, Any]
    device: torch.device
    cores: int
    tell: Callable[[str], None]
    _inputs: dict[str, Inputs] = field(default_factory=dict)
    _said: float = field(default_factory=time.monotonic)

    def say(self, line: str) -> None:
        """Tell a line."""
        self._said = time.monotonic()
        self.tell(line)

    def _say_now_and_then(self, racers: Sequence[Racer], epochs: int) -> None:
        """Tell how it goes, unless something was told a moment ago."""
        if time.monotonic() - self._said >= TELL_EVERY:
            done, least = sum(r.epochs >= epochs for r in racers), min(r.epochs for r in racers)
            self.say(f"{done} of {len(racers)} at epoch {epochs}, the last at {least}")

    def enter(self, candidates: Sequence[Candidate], runs: int, first: int = 0) -> Racer:
        """Return candidates of one shape, ready to train: ``runs`` runs of each from a first."""
        rows = ((first + torch.arange(runs)) % self.splits.runs).repeat(len(candidates))
        splits = self.splits.take(rows).without_test()
        settings = [
            self.settings(candidate).replace(seed=SEARCH_SEED + first + run)
            for candidate in candidates
            for run in range(runs)
        ]
        wanted = weights_of_settings(settings[0], self.graph.class_names)
        graph = self.graph
        weights = class_weights(wanted, graph.labels, splits.train, graph.num_classes)
        inputs = self._prepared(settings[0], len(settings))
        return Racer(candidates, Task(graph, inputs, splits, settings, None, weights), runs)

    def settings(self, candidate: Candidate) -> Settings:
        """Return the settings of a candidate in a search, where none stops by itself."""
        chosen = candidate.settings(self.given)
        return chosen.replace(epochs=MOST_EPOCHS, patience=MOST_EPOCHS)

    def _prepared(self, settings: Settings, runs: int) -> Inputs:
        key = repr((settings.inputs, settings.controllers.measures))
        if key not in self._inputs:
            self._inputs[key] = prepare_inputs(self.graph, settings, self.device, runs)
        return self._inputs[key]

    def advance(self, racers: Sequence[Racer], epochs: int, until: float) -> bool:
        """Train all until they have so many epochs; tells whether they got there in time."""
        going = [racer for racer in racers if not racer.trouble]
        order = sorted(going, key=lambda racer: -racer.epoch_seconds)
        if self.device.type == "cuda":
            self._one_by_one(order, epochs, until)
        else:
            self._side_by_side(order, epochs, until)
        return all(racer.epochs >= epochs or racer.trouble for racer in racers)

    def _one_by_one(self, racers: Sequence[Racer], epochs: int, until: float) -> None:
        """Train each on the one GPU that there is."""

        def is_over() -> bool:
            self._say_now_and_then(racers, epochs)
            return time.monotonic() >= until

        for racer in racers:
            racer.advance(epochs, is_over)

    def _side_by_side(self, racers: Sequence[Racer], epochs: int, until: float) -> None:
        """Train as many at once as there are cores."""
        stop, workers = Event(), max(1, min(self.cores, len(racers)))
        threads = max(1, self.cores // workers)

        def work(racer: Racer) -> None:
            use_threads(threads)
            racer.advance(epochs, stop.is_set)

        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(work, racer) for racer in racers]
            try:
                self._watch(futures, racers, epochs, until)
            finally:
                stop.set()
        for future in futures:
            future.result()

    def _watch(
        self, futures: Sequence[Future[None]], racers: Sequence[Racer], epochs: int, until: float
    ) -> None:
        """Wait until all is done, one has failed or time is up; tell how it goes."""
        while not all(future.done() for future in futures):
            wait(futures, timeout=NAP)
            now = time.monotonic()
            if now >= until or any(f.done() and f.exception() is not None for f in futures):
                return
            self._say_now_and_then(racers, epochs)


def common_epochs(racers: Sequence[Racer]) -> int:
    """Return how many epochs all of them have behind them that can train at all."""
    return min((racer.epochs for racer in racers if not racer.trouble), default=0)


def trials_of(racers: Sequence[Racer], epochs: int) -> list[Trial]:
    """Return what the candidates of some racers reached within so many epochs."""
    return [trial for racer in racers for trial in racer.trials(epochs)]
