"""Where the settings of an estimator come from: its parameters, a recipe, or a short search."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.search.auto_final import search_and_plan
from ppro.settings.settings import Settings
from ppro.training.class_weights import ClassWeight

logger = logging.getLogger(__name__)

SPLITS = 5
"""Splits of a search, at least, where validation nodes are drawn."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is trained, and for how long.

    Args:
        settings: one for each run.
        until: the moment at which training ends, or None.
        facts: for ``result.json``.
        notes: what a reader of the result should know.
    """

    settings: Sequence[Settings]
    splits: Splits
    until: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def search_settings(
    graph: Graph,
    splits: Splits,
    given: Mapping[str, Any],
    *,
    runs: int,
    budget: float,
    start: float | None = None,
    class_weight: ClassWeight | None = None,
    device: torch.device,
    threads: int | None,
) -> Prepared:
    """Search settings for a graph, and tell what of them there is time to train.

    Args:
        splits: those to search on; the first ``runs`` of them are trained on.
        given: settings that hold whatever is found.
        budget: seconds for search and training.
        class_weight: what classes count in the losses.
    """
    weighted = {} if class_weight is None else {"class_weight": _words(class_weight, graph)}
    options: Any = {"device": device, "threads": threads, "tell": logger.info}
    begin = time.monotonic() if start is None else start
    choice, plan = search_and_plan(
        graph,
        splits,
        given.get("strategy"),
        {**given, **weighted},
        runs=runs,
        budget=float(budget),
        start=begin,
        **options,
    )
    logger.info("%s, in %.0f s", choice.reason, choice.seconds)
    first = choice.settings
    settings = [first.replace(seed=first.seed + run) for run in range(plan.runs)]
    notes = tuple(note for note in (f"auto {choice.reason}", plan.note) if note)
    facts = {"search": choice.facts()}
    return Prepared(settings, splits.first(plan.runs), plan.until, facts, notes)


def _words(class_weight: ClassWeight, graph: Graph) -> tuple[str, ...]:
    """Return class weights as settings have them."""
    if isinstance(class_weight, str):
        return (class_weight,)
    pairs = zip(graph.class_names, class_weight, strict=True)
    return tuple(f"{name}={weight:g}" for name, weight in pairs)
