"""Many runs of a method on one graph, put into as few programs as they allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.parts import METRICS
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from ppro.training.judges import networks_of
from ppro.training.memory import Sizes, propagated_width
from ppro.training.metrics import Metric
from ppro.training.stopping import MEASURED
from ppro.training.threads import available_cores
from ppro.training.trainer import OnEpoch

_VAL_ACCURACY = MEASURED.index("val_accuracy")
FULL = {"cpu": 2**22, "cuda": 2**26}
"""Numbers in the embeddings of a batch, on a CPU for each core, from which more runs make none of
them cheaper: measured with L2B on Cora and Pubmed, on a CPU and an H200."""
LEAST = 8
"""Runs that share the cost of starting every operation; on a CPU for each core."""


@dataclass(frozen=True)
class Job:
    """One run to make: its settings and the row of the splits that it trains on."""

    settings: Settings
    row: int


@dataclass(frozen=True)
class Done:
    """What a run reached, times a hundred; on test nodes NaN where there are none.

    Args:
        val_score: validation accuracy, or the metric that the settings name.
        test_score: the same on test nodes.
        step_shares: the shares of the nodes that stopped at step 0, 1 … L.
        steps: of every node. Shape ``[n]``.
        priorities: of every node. Shape ``[n]``.
        curve: validation accuracy of every epoch, as a share; where it was not measured, that of
            the last time before. Shape ``[epochs]``.
    """

    job: Job
    val_accuracy: float
    test_accuracy: float
    val_score: float
    test_score: float
    mean_step: float
    epochs: int
    step_shares: list[float]
    steps: Tensor = field(compare=False, repr=False)
    priorities: Tensor = field(compare=False, repr=False)
    curve: Tensor = field(compare=False, repr=False)

    @property
    def worth(self) -> float:
        """The validation score, its sign turned where less is better: more is better.

        A run that diverged has predicted nothing and counts as the worst.
        """
        metric: type[Metric] = METRICS.get(self.job.settings.training.metric)
        return 100 * metric.worth(self.val_score / 100)


class Kept(Protocol):
    """Where runs are kept as soon as their batch is done."""

    def take(self, job: Job) -> Done | None:
        """Return a run if it is done."""

    def put(self, runs: Sequence[Done]) -> None:
        """Keep a batch."""


def train_all(
    graph: Graph,
    splits: Splits,
    jobs: Sequence[Job],
    device: torch.device,
    on_epoch: OnEpoch | None = None,
    kept: Kept | None = None,
) -> list[Done]:
    """Train every job; those of one program go together, as many as make each other cheaper.

    The order of the jobs is kept.

    Args:
        kept: what is done there already is not trained again.
    """
    order = sorted(range(len(jobs)), key=lambda i: _program(jobs[i].settings))
    found: dict[int, Done] = {}
    for _, group in groupby(order, key=lambda i: _program(jobs[i].settings)):
        members = list(group)
        for numbers in _in_parts(members, most_together(graph, jobs[members[0]], device)):
            if kept is not None:
                found |= {i: done for i in numbers if (done := kept.take(jobs[i])) is not None}
            todo = [i for i in numbers if i not in found]
            if not todo:
                continue
            results = list(_train(graph, splits, [jobs[i] for i in todo], device, on_epoch))
            if kept is not None:
                kept.put(results)
            found.update(zip(todo, results, strict=True))
    return [found[i] for i in range(len(jobs))]


def most_together(graph: Graph, job: Job, device: torch.device) -> int:
    """Return how many runs like this one fill the machine: more of them would only take memory."""
    settings = job.settings
    width = propagated_width(Sizes.of(graph), settings) * networks_of(settings)
    cores = available_cores() if device.type == "cpu" else 1
    full = FULL.get(device.type, FULL["cuda"])
    return cores * max(LEAST, full // max(1, graph.num_nodes * width))


def _in_parts(numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield the numbers in as few parts as there must be, all about as long."""
    parts = -(-len(numbers) // most)
    for part in range(parts):
        yield numbers[part * len(numbers) // parts : (part + 1) * len(numbers) // parts]


def _program(settings: Settings) -> str:
    """Return what runs of one program share; those without consistency need not pay for it."""
    return repr((settings.program(), settings.training.consistency > 0))


def _train(
    graph: Graph,
    splits: Splits,
    jobs: Sequence[Job],
    device: torch.device,
    on_epoch: OnEpoch | None,
) -> Iterator[Done]:
    """Train the jobs of one program; where memory is short, in halves."""
    rows, settings = torch.tensor([job.row for job in jobs]), [job.settings for job in jobs]
    try:
        options: Any = {"device": device, "on_epoch": on_epoch, "diverged": "keep"}
        result = fit(graph, splits.take(rows), settings, **options)
        if result.history.interrupted:
            raise KeyboardInterrupt
        yield from (_done(job, i, result) for i, job in enumerate(jobs))
        return
    except torch.OutOfMemoryError:
        if len(jobs) == 1:
            raise
    torch.cuda.empty_cache()
    middle = len(jobs) // 2
    for half in (jobs[:middle], jobs[middle:]):
        yield from _train(graph, splits, half, device, on_epoch)


def _done(job: Job, run: int, result: Fit) -> Done:
    steps, depth = result.nodes.steps[run], job.settings.network.max_steps
    accuracies = float(result.val_accuracy[run]), float(result.test_accuracy[run])
    scores, epochs = accuracies, int(result.history.epochs[run])
    if not METRICS.get(job.settings.training.metric).is_accuracy:
        scores = 100 * float(result.val_score[run]), 100 * float(result.test_score[run])
    return Done(
        job,
        *accuracies,
        *scores,
        float(steps.float().mean()),
        epochs,
        (torch.bincount(steps.long(), minlength=depth + 1) / steps.numel()).tolist(),
        steps,
        result.nodes.priorities[run],
        _carried_on(result.history.metrics[:epochs, _VAL_ACCURACY, run]),
    )


def _carried_on(values: Tensor) -> Tensor:
    """Return values where each NaN is the last number before it; those before the first stay."""
    places = torch.arange(values.shape[0]) * values.isfinite()
    return values[places.cummax(0).values]
