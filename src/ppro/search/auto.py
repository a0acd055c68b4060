"""Settings without tuning: networks of many kinds compete on the graph itself for a while.

Nothing but the graph, its training nodes and its validation nodes is looked at. All candidates
train for as many epochs as there is time for; the better ones go on; then the best two train beside
variations of themselves, and under controllers. Where edges have a direction, the best two read
them one way as well before that. Candidates are compared after the same number of epochs, on the
same seeds and splits. Where a strategy is asked for, networks compete without controllers,
and the best of them under those. The best mean validation score wins, the simpler of equals.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from ppro.compute.precision import as_by_default
from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.direction import check_direction, seems_directed
from ppro.search.auto_candidates import CANDIDATES, Candidate, distinct
from ppro.search.auto_inputs import input_settings
from ppro.search.auto_picking import best_of
from ppro.search.auto_race import Race, Racer, common_epochs
from ppro.search.auto_search import Search
from ppro.search.auto_time import Training
from ppro.search.auto_trials import Choice
from ppro.settings.limits import BUDGET
from ppro.settings.settings import PPRO
from ppro.training.threads import available_cores

EDITION = 5
"""Number of the candidates and rungs as they are now; a measurement says which it is of."""
FEW_LABELS = 0.2
"""Below this share of training nodes the others are worth learning from."""
MANY_FEATURES = 1_000_000
"""Stored features above which dropping them takes longer than all else."""
ONE_WAY, OF_ONE_WAY = 2, 0.5
"""How many of the best read edges one way too, and what share of the time left that may take."""
ENOUGH_TO_TELL = 200
"""Validation nodes from which on a direction is tried: with fewer, luck would choose it."""


@as_by_default()
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
    training: Training | None = None,
) -> Choice:
    """Find settings for a graph within a budget of seconds.

    Args:
        splits: those of the training that follows; test nodes are not looked at.
        strategy: how nodes choose their step; None leaves that to the search too.
        fixed: settings that every candidate has, such as the metric that they are ranked by.
        tell: called with a line now and then.
        training: what follows; the search also has the time that it leaves.
    """
    if budget <= 0:
        raise SettingsError(f"a budget of {budget} s leaves no time; give some seconds")
    start = time.monotonic()
    given = {**input_settings(graph), **_of_many(graph), **(fixed or {})}
    if (model := given.get("model", PPRO)) != PPRO:
        raise SettingsError(
            f"a search tries the networks of PPro, and model {model} is none of them; leave the "
            "model out, or the search"
        )
    cores = threads or available_cores()
    check_direction(graph, given.get("direction", "both"))
    race = Race(graph, splits, given, device or torch.device("cpu"), cores, tell)
    enough = int(splits.val[0].sum()) >= ENOUGH_TO_TELL
    is_open = enough and seems_directed(graph) and "direction" not in given
    kind = DirectedSearch if is_open else Search
    search = kind(race, strategy, start, start + budget, training)
    return search.choice(suitable(splits, given, fixed or {}))


class DirectedSearch(Search):
    """A search on a directed graph: after the second rung the best read edges one way as well."""

    def _third(self, kept: Sequence[Racer]) -> list[Racer]:
        """Return those too; they may be varied as others are."""
        found = self._one_way(kept)
        return [*found, *super()._third([*kept, *found])]

    def _taught(self, kept: Sequence[Racer]) -> list[Racer]:
        """Return the best of all of them under the controllers that were asked for."""
        return super()._taught([*kept, *self._one_way(kept)])

    def _one_way(self, kept: Sequence[Racer]) -> list[Racer]:
        """Return the best with edges read one way, as far as they train as long in time."""
        epochs, racers = common_epochs(kept), list[Racer]()
        room = OF_ONE_WAY * self._room()
        for base in best_of(kept, ONE_WAY):
            for candidate in one_way(base.candidates[0]):
                room -= base.epoch_seconds * epochs
                racer = self._entered([candidate], base.runs) if room >= 0 else None
                racers += [] if racer is None else [racer]
        if racers and not self.race.advance(racers, epochs, self.until):
            racers = [racer for racer in racers if racer.epochs >= epochs]
        if racers:
            self._told("edges read one way", [*kept, *racers])
        return racers


def one_way(candidate: Candidate) -> list[Candidate]:
    """Return the same network with edges read from those that point to a node, and to others."""
    if candidate.changes.get("max_steps") == 0:
        return []
    return [
        replace(
            candidate,
            name=f"{candidate.name}, {direction}-edges",
            why=f"{candidate.why}, most of all those that {told}",
            changes={**candidate.changes, "direction": direction},
            simplicity=candidate.simplicity + 1,
            kind="",
        )
        for direction, told in (("in", "point to a node"), ("out", "it points to"))
    ]


def _of_many(graph: Graph) -> dict[str, Any]:
    """Return what saves time with many features: hidden layers drop, features do not."""
    x = graph.features
    count = x.values().numel() if x.layout == torch.sparse_csr else x.numel()
    return {"feature_dropout": 0.0} if count > MANY_FEATURES else {}


def suitable(
    splits: Splits,
    given: Mapping[str, Any] | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> list[Candidate]:
    """Return the candidates that can make sense with so many labels.

    Args:
        given: settings that all of them have.
        fixed: those of them that a user asked for.
    """
    few = float(splits.train[0].float().mean()) < FEW_LABELS
    found = [c for c in CANDIDATES if not (c.many_labels if few else c.few_labels)]
    return distinct([c for c in found if c.agrees_with(fixed or {})], given or {})
