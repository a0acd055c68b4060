"""Settings without tuning: networks of many kinds compete on the graph itself for a while.

Nothing but the graph, its training nodes and its validation nodes is looked at. All candidates
train for as many epochs as there is time for; the better ones go on; then the best two train beside
variations of themselves, and under controllers. Whoever is compared has trained for as many epochs,
on the same seeds and splits. The best mean validation score wins, the simpler of equals.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ppro.compute.precision import in_float32
from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.search.auto_candidates import CANDIDATES, Candidate, distinct
from ppro.search.auto_inputs import input_settings
from ppro.search.auto_race import Race
from ppro.search.auto_search import Search
from ppro.search.auto_trials import Choice
from ppro.settings.limits import BUDGET
from ppro.training.threads import available_cores

FEW_LABELS = 0.2
"""Below this share of training nodes the others are worth learning from."""
MANY_FEATURES = 1_000_000
"""Stored features above which dropping them takes longer than all else."""


@in_float32()
def choose(
    graph: Graph,
    splits: Splits,
    strategy: str | None = None,
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
        strategy: how nodes choose their step; None leaves that to the search too.
        fixed: settings that every candidate has, such as the metric that they are ranked by.
        tell: called with a line now and then.
    """
    if budget <= 0:
        raise SettingsError(f"a budget of {budget} s leaves no time; give some seconds")
    start = time.monotonic()
    given = {**input_settings(graph), **_of_many(graph), **(fixed or {})}
    cores = threads or available_cores()
    race = Race(graph, splits, given, device or torch.device("cpu"), cores, tell)
    search = Search(race, strategy, start, start + budget)
    return search.choice(suitable(splits, strategy, given))


def _of_many(graph: Graph) -> dict[str, Any]:
    """Return what saves time with many features: hidden layers drop, features do not."""
    x = graph.features
    count = x.values().numel() if x.layout == torch.sparse_csr else x.numel()
    return {"feature_dropout": 0.0} if count > MANY_FEATURES else {}


def suitable(
    splits: Splits, strategy: str | None = None, given: Mapping[str, Any] | None = None
) -> list[Candidate]:
    """Return the candidates that can make sense with so many labels, under such a strategy."""
    few = float(splits.train[0].float().mean()) < FEW_LABELS
    found = [candidate for candidate in CANDIDATES if few or not candidate.few_labels]
    if strategy not in (None, "none"):
        found = [c for base in found for c in base.controlled() if c.strategy == strategy]
    return distinct(found, given or {})
