"""The recorded settings that compete for a recipe, the best validation accuracy first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppro.data import dataset_info
from ppro.paper.cells import Cell
from ppro.paper.methods import find_method, searches
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from ppro.settings.settings import Settings

_NAMES = frozenset(Settings.model_fields)
_METHODS = {"none": "appnp-none", "l2b": "l2b", "l2u": "l2u"}
STRATEGIES = tuple(_METHODS)
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
class Entry:
    """Settings, whose search found them, and what they reached.

    Args:
        validation: mean accuracy over the runs, in percent.
    """

    method: str
    settings: Settings
    validation: float
    runs: int


@dataclass(frozen=True)
class Contest:
    """All entries of a graph and a strategy, the best first and the earlier of equals.

    Args:
        entries: what searches chose, and changes of it, each with ten runs.
        others: what the searches tried besides, with the runs that it had there.
        configurations: searched for all of them together.
    """

    entries: tuple[Entry, ...]
    others: tuple[Entry, ...]
    configurations: int


def contest(dataset: str, strategy: str, store: Store) -> Contest:
    """What the ten runs of every search, and of changes of what it chose, reached.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.
    """
    found = [
        (cell, result) for cell in _competing(dataset, strategy) if (result := _read(cell, store))
    ]
    entries = [
        Entry(cell.method, Settings(**result["settings"]), result["val_mean"], result["runs"])
        for cell, result in found
    ]
    searched = {cell.key: r["configurations"] for cell, r in found if not cell.changes}
    others = [entry for key in searched for entry in _tried(key, store)]
    return Contest(_best_first(entries), _best_first(others), sum(searched.values()))


def _best_first(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: -entry.validation))


def _tried(key: tuple[str, str, str], store: Store) -> list[Entry]:
    """All configurations of a search."""
    record = store.read(store.search_path(*key))
    if record is None:
        return []
    method, runs = find_method(key[2]), record["runs"]
    return [
        Entry(
            method.name,
            Settings(**{**method.settings, **{k: v for k, v in one.items() if k in _NAMES}}),
            one["validation_mean"],
            runs,
        )
        for one in record["tried"]
    ]


def _competing(dataset: str, strategy: str) -> list[Cell]:
    """The cells of a strategy that tables measure: searched settings, then changes of them."""
    method, split = _METHODS[strategy], dataset_info(dataset).splits[0]
    measured = {c.label: c for make in TABLES.values() for c in make().cells()}
    cells = [
        cell
        for cell in measured.values()
        if (cell.dataset, cell.split) == (dataset, split)
        and cell.method in searches(method)
        and cell.changes in _DESIGNS
    ]
    return sorted(cells, key=lambda cell: (bool(cell.changes), cell.label))


def _read(cell: Cell, store: Store) -> dict[str, Any] | None:
    return store.read(store.cell_path(cell.dataset, cell.split, cell.method, cell.variant))
