"""Which of the recorded settings become the recipe of a graph and a strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppro.config import Found, Recipe, Settings
from ppro.data import dataset_info
from ppro.experiments.cells import Cell
from ppro.experiments.methods import searches
from ppro.experiments.store import Store
from ppro.experiments.tables import TABLES

_METHODS = {"none": "appnp-none", "l2b": "l2b", "l2u": "l2u"}
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
class Choice:
    """The cell that won, and how many configurations were searched for all that competed."""

    cell: Cell
    result: Mapping[str, Any]
    configurations: int


def choose(dataset: str, strategy: str, store: Store) -> Choice | None:
    """The cell with the best mean validation accuracy over its runs, the first of equals.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    found = [
        (cell, result) for cell in _competing(dataset, strategy) if (result := _read(cell, store))
    ]
    if not found:
        return None
    cell, result = max(found, key=lambda pair: pair[1]["val_mean"])
    searched = {c.method: r["configurations"] for c, r in found if not c.changes}
    return Choice(cell, result, sum(searched.values()))


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


def recipe_of(choice: Choice, known: Recipe) -> Recipe:
    """The recipe of a choice; the paper's number and the note are those known."""
    found = Found(
        method=choice.cell.method,
        configurations=choice.configurations,
        runs=choice.result["runs"],
        validation=round(choice.result["val_mean"], 2),
    )
    settings = Settings(**choice.result["settings"])
    return known.model_copy(update={"settings": settings, "found": found})
