"""The recorded settings that compete for a recipe, the best validation accuracy first."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ppro.data import dataset_info
from ppro.paper.cells import Cell
from ppro.paper.experiment import Candidate
from ppro.paper.store import Store
from ppro.paper.tables import TABLES, searches_behind
from ppro.search.offers import USUAL
from ppro.settings.settings import Settings

METHODS = {"none": "appnp-none", "l2b": "l2b", "l2u": "l2u"}
"""The methods that recipes are for, by the strategy that their names end with."""
STRATEGIES = tuple(METHODS)
"""What recipes are for: the backbone alone, and both strategies."""
_DESIGNS: tuple[Mapping[str, Any], ...] = (
    {},
    {"patience": 200},
    {"use_progress": True},
    {"use_progress": True, "epsilon": 0.7},
    {"controller_inputs": "predictions"},
    {"consistency_on": "selected"},
    {"consistency_on": "priority"},
)
"""Patience, what the controllers see and what has to agree; not how a state is selected."""


@dataclass(frozen=True)
class Contest:
    """All candidates of a graph and a strategy, the best first and the earlier of equals.

    Args:
        entries: what searches chose, and changes of it, each with ten runs.
        others: what the searches tried besides, with the runs that it had there.
        configurations: searched for all of them together.
    """

    entries: tuple[Candidate, ...]
    others: tuple[Candidate, ...]
    configurations: int


def contest(dataset: str, strategy: str, store: Store) -> Contest:
    """Return what the ten runs of every search, and of changes of what it chose, reached.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.
    """
    return store.once(("contest", dataset, strategy), lambda: _contest(dataset, strategy, store))


def _contest(dataset: str, strategy: str, store: Store) -> Contest:
    cells = competing(dataset, strategy)
    found = [(cell, result) for cell in cells if (result := store.one(cell.place))]
    entries = [candidate_of(result, result["runs"]) for _, result in found]
    searched = {cell.searched: r["configurations"] for cell, r in found if not cell.changes}
    others = [
        candidate_of(one, record["runs"])
        for place in searched
        if (record := store.read(place)) is not None
        for one in record["results"]
    ]
    return Contest(_best_first(entries), _best_first(others), sum(searched.values()))


def candidate_of(result: Mapping[str, Any], runs: int) -> Candidate:
    """Return a recorded result as a candidate."""
    settings = Settings.read(result["settings"])
    return Candidate(result["method"], settings, result["val_mean"], runs)


def _best_first(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda candidate: -candidate.validation))


@cache
def competing(dataset: str, strategy: str) -> list[Cell]:
    """Return the cells of a strategy that tables measure: searched settings, then changes."""
    split, methods = dataset_info(dataset).splits[0], searches_behind(METHODS[strategy])
    measured = {cell.place: cell for make in TABLES.values() for cell in make().cells()}
    cells = [
        cell
        for cell in measured.values()
        if (cell.dataset, cell.split) == (dataset, split)
        and cell.method in methods
        and cell.offer == USUAL
        and cell.changes in _DESIGNS
    ]
    return sorted(cells, key=lambda cell: (bool(cell.changes), cell.method, cell.place))
