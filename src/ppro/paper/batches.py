"""Many runs of a method on one graph, put into as few programs as they allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.trainer import OnEpoch


@dataclass(frozen=True)
class Job:
    """One run to make: its settings and the row of the splits that it trains on."""

    settings: Settings
    row: int


@dataclass(frozen=True)
class Done:
    """What a run reached; accuracies in percent, the test's NaN where there are no test nodes.

    ``step_shares`` are the shares of the nodes that stopped at step 0, 1 … L.
    """

    job: Job
    val_accuracy: float
    test_accuracy: float
    mean_step: float
    epochs: int
    step_shares: list[float]


def train_all(
    graph: Graph,
    splits: Splits,
    jobs: Sequence[Job],
    device: torch.device,
    on_epoch: OnEpoch | None = None,
) -> list[Done]:
    """Train every job; those of one program go together. The order of the jobs is kept."""
    order = sorted(range(len(jobs)), key=lambda i: _program(jobs[i].settings))
    found: dict[int, Done] = {}
    for _, members in groupby(order, key=lambda i: _program(jobs[i].settings)):
        numbers = list(members)
        results = _train(graph, splits, [jobs[i] for i in numbers], device, on_epoch)
        found.update(zip(numbers, results, strict=True))
    return [found[i] for i in range(len(jobs))]


def _program(settings: Settings) -> str:
    """What runs of one program share; those without consistency need not pay for it."""
    return repr((settings.program(), settings.training.consistency > 0))


def _train(
    graph: Graph,
    splits: Splits,
    jobs: Sequence[Job],
    device: torch.device,
    on_epoch: OnEpoch | None,
) -> Iterator[Done]:
    """Train the jobs of one program; where memory is short, in halves."""
    try:
        yield from _train_together(graph, splits, jobs, device, on_epoch)
        return
    except torch.OutOfMemoryError:
        if len(jobs) == 1:
            raise
    torch.cuda.empty_cache()
    middle = len(jobs) // 2
    for half in (jobs[:middle], jobs[middle:]):
        yield from _train(graph, splits, half, device, on_epoch)


def _train_together(
    graph: Graph,
    splits: Splits,
    jobs: Sequence[Job],
    device: torch.device,
    on_epoch: OnEpoch | None,
) -> list[Done]:
    rows = torch.tensor([job.row for job in jobs])
    result = fit(
        graph, splits.take(rows), [job.settings for job in jobs], device=device, on_epoch=on_epoch
    )
    if result.history.interrupted:
        raise KeyboardInterrupt
    steps = result.nodes.steps
    depth = jobs[0].settings.network.max_steps
    return [
        Done(
            job,
            float(result.val_accuracy[i]),
            float(result.test_accuracy[i]),
            float(steps[i].float().mean()),
            int(result.history.epochs[i]),
            (torch.bincount(steps[i].long(), minlength=depth + 1) / steps.shape[1]).tolist(),
        )
        for i, job in enumerate(jobs)
    ]
