"""What a batch of configurations is worth: validation score, first on one seed, then on all.

Where less of the metric is better, its sign is turned: a study looks for the most.
"""

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from optuna.trial import Trial

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.search.batches import Job, train_all
from ppro.search.tuning.spaces import SearchSpace
from ppro.search.tuning.study import SharedStudy
from ppro.settings.limits import SEARCH_SEED
from ppro.settings.settings import Settings
from ppro.training.judges import networks_of
from ppro.training.memory import Sizes, predictions, propagated_width
from ppro.training.trainer import OnEpoch

ON_CPU, ON_GPU = 10, 64
"""Configurations that are trained together, where memory allows."""
SHARE_OF_MEMORY = 0.25
"""Part of the memory that a batch may fill."""


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Trains configurations on the seeds of the search.

    Args:
        base: the settings that no configuration changes.
        splits: one row for each seed; their test nodes are taken out here.
        together: runs of one program.
    """

    graph: Graph
    splits: Splits
    base: Settings
    device: torch.device
    together: int
    _hidden: Splits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hidden", self.splits.without_test())

    @property
    def seeds(self) -> range:
        """Return the seeds of every configuration."""
        return range(SEARCH_SEED, SEARCH_SEED + self.splits.runs)

    def scores(
        self, candidates: Sequence[Settings], rows: range, on_epoch: OnEpoch | None = None
    ) -> list[list[float]]:
        """Return what every configuration is worth on some of the seeds, times a hundred."""
        pairs = [(i, row) for i in range(len(candidates)) for row in rows]
        # Runs of one program side by side, so that few batches are of two.
        pairs.sort(key=lambda pair: repr(candidates[pair[0]].program()))
        found: dict[tuple[int, int], float] = {}
        for start in range(0, len(pairs), self.together):
            part = pairs[start : start + self.together]
            jobs = [Job(candidates[i].replace(seed=SEARCH_SEED + row), row) for i, row in part]
            results = train_all(self.graph, self._hidden, jobs, self.device, on_epoch)
            found |= {pair: done.worth for pair, done in zip(part, results, strict=True)}
        return [[found[i, row] for row in rows] for i in range(len(candidates))]


def evaluate(
    study: SharedStudy,
    space: SearchSpace,
    trials: Sequence[Trial],
    evaluator: Evaluator,
    on_epoch: OnEpoch | None = None,
) -> int:
    """Train a batch and tell the study; returns how many were pruned after their first seed."""
    candidates = [evaluator.base.replace(**space.changes(trial.params)) for trial in trials]
    first = evaluator.scores(candidates, range(1), on_epoch)
    for trial, (score,) in zip(trials, first, strict=True):
        study.report(trial, 1, score)
    runs = evaluator.splits.runs
    going = [i for i, trial in enumerate(trials) if runs == 1 or not trial.should_prune()]
    for i in set(range(len(trials))) - set(going):
        study.finish(trials[i], None, {"accuracies": first[i]})
    rest = evaluator.scores([candidates[i] for i in going], range(1, runs), on_epoch)
    for i, more in zip(going, rest, strict=True):
        accuracies = [*first[i], *more]
        study.finish(trials[i], statistics.fmean(accuracies), {"accuracies": accuracies})
    return len(trials) - len(going)


def batch_size(graph: Graph, settings: Settings, device: torch.device) -> int:
    """Return how many configurations to train together without filling the memory."""
    most = ON_GPU if device.type == "cuda" else ON_CPU
    width = propagated_width(Sizes.of(graph), settings)
    # Every step is kept for the controllers, and the first layers hold a few more of its size.
    one_net = 4 * graph.num_nodes * width * (settings.network.max_steps + 8)
    one_run = networks_of(settings) * (one_net + predictions(Sizes.of(graph), settings))
    return max(1, min(most, int(SHARE_OF_MEMORY * _memory(device) / one_run)))


def _memory(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30
