"""What is still to be done for a table, and the doing of it, file by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch

from ppro.data import dataset_info, load_graph, make_splits
from ppro.data.names import PUBLIC
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.paper.cells import Cell, run_cell
from ppro.paper.methods import find_method, kind_of
from ppro.paper.search import FIRST_SEED, Budget, search
from ppro.paper.store import Store
from ppro.runs.versions import versions
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads
from ppro.training.trainer import OnEpoch

QUICK = {"epochs": 50}
"""What ``--quick`` changes in every cell."""


@dataclass(frozen=True)
class Plan:
    """How to fill tables.

    Args:
        root: the folder of results.
        runs: runs of every cell.
        configurations: tried by every search; 0 for no search: the first one is taken.
        device: where to train.
        changes: settings changed in every cell.
    """

    root: Path
    runs: int
    configurations: int
    device: str = "cpu"
    data_root: Path | None = None
    offline: bool = False
    threads: int | None = None
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The results."""
        return Store(self.root)


@dataclass(frozen=True)
class Task:
    """A search or a cell whose file is missing."""

    kind: Literal["search", "cell"]
    cell: Cell

    @property
    def label(self) -> str:
        """What progress calls it."""
        return f"{self.kind} {self.cell.label}"

    def rests_on(self, other: Task) -> bool:
        """Whether it needs what the other one finds."""
        kinds = self.kind, other.kind
        return kinds == ("cell", "search") and self.cell.key == other.cell.key

    @property
    def size(self) -> int:
        """A rough measure of its work, to begin with the largest."""
        deep = "gcnii" in self.cell.method or "gat" in self.cell.method
        steps = int(self.cell.changes.get("max_steps", 16)) if deep else 10
        return size_of(self.cell.dataset) * steps


def size_of(dataset: str) -> int:
    """Nodes and edges of a graph of the catalogue, 0 where it is generated."""
    expected = dataset_info(dataset).expected
    return 0 if expected is None else expected.nodes + expected.edges


def missing_searches(cells: Sequence[Cell], plan: Plan) -> list[Task]:
    """The searches that the cells rest on and that have no file, or a smaller one."""
    found: dict[tuple[str, str, str], Task] = {}
    for cell in cells:
        record = plan.store.read(plan.store.search_path(*cell.key))
        if record is None or record["configurations"] < _affordable(cell, plan):
            found[cell.key] = Task("search", Cell(*cell.key))
    return sorted(found.values(), key=lambda task: -task.size)


def missing_cells(cells: Sequence[Cell], plan: Plan) -> list[Task]:
    """The cells that have no file, one of fewer runs, or one of other settings."""
    tasks = [Task("cell", cell) for cell in cells if not _is_done(cell, plan)]
    return sorted(tasks, key=lambda task: -task.size)


def missing_tasks(cells: Sequence[Cell], plan: Plan) -> list[Task]:
    """All that is missing: the searches, then the cells."""
    return [*missing_searches(cells, plan), *missing_cells(cells, plan)]


def _affordable(cell: Cell, plan: Plan) -> int:
    """How many configurations a search of the cell's method can try."""
    method, kind = find_method(cell.method), kind_of(cell.dataset)
    return len(method.configurations(kind, plan.configurations))


def _is_done(cell: Cell, plan: Plan) -> bool:
    store = plan.store
    record = store.read(store.cell_path(*cell.key, cell.variant))
    searched = store.read(store.search_path(*cell.key))
    if searched is None:
        return False
    return holds(record, {**searched["settings"], **plan.changes, **cell.changes}, plan.runs)


def holds(record: Mapping[str, Any] | None, settings: Mapping[str, Any], runs: int) -> bool:
    """Whether a result is one of these settings, with enough runs.

    Settings newer than the result are at their defaults in it.
    """
    if record is None or record["runs"] < runs:
        return False
    wanted = Settings(**settings)
    if record["settings"].keys() - Settings.model_fields.keys():
        return False
    return Settings(**record["settings"]) == wanted


@cache
def graph_of(dataset: str, data_root: Path | None, offline: bool) -> Graph:
    """A graph of the catalogue, read once in a process."""
    return load_graph(dataset, data_root=data_root, offline=offline)


def do(task: Task, plan: Plan, on_epoch: OnEpoch | None = None) -> str:
    """Do a task and write its file; returns a line that says what came out."""
    if plan.threads is not None:
        use_threads(plan.threads)
    cell, store = task.cell, plan.store
    graph = graph_of(cell.dataset, plan.data_root, plan.offline)
    if task.kind == "search":
        record = _search(cell, graph, plan, on_epoch)
        store.write(store.search_path(*cell.key), record)
        return f"{task.label}: {record['configurations']} configurations"
    searched = store.read(store.search_path(*cell.key))
    assert searched is not None
    searched = {**searched, "settings": {**searched["settings"], **plan.changes}}
    splits = splits_of(cell, graph, plan, plan.runs, 0)
    result = run_cell(cell, graph, splits, searched, torch.device(plan.device), on_epoch)
    store.write(store.cell_path(*cell.key, cell.variant), result)
    return f"{task.label}: {result['test_mean']:.2f} ± {result['test_std']:.2f}"


def splits_of(cell: Cell, graph: Graph, plan: Plan, runs: int, seed: int) -> Splits:
    """The splits of a cell, run r from seed + r."""
    place = {"data_root": plan.data_root, "offline": plan.offline}
    return make_splits(graph, cell.dataset, cell.split, runs, seed, **place)  # type: ignore[arg-type]


def _search(cell: Cell, graph: Graph, plan: Plan, on_epoch: OnEpoch | None) -> dict[str, Any]:
    method = find_method(cell.method)
    if plan.configurations == 0:
        return _unsearched(cell)
    # The public split is one and its runs differ little; random splits differ by points.
    budget = Budget(plan.configurations, 3 if cell.split == PUBLIC else 5)
    splits = splits_of(cell, graph, plan, budget.runs, FIRST_SEED)
    device = torch.device(plan.device)
    return search(method, graph, cell.dataset, splits, budget, device, on_epoch)


def _unsearched(cell: Cell) -> dict[str, Any]:
    """The record of no search: the first configuration of the space, nothing tried."""
    method, kind = find_method(cell.method), kind_of(cell.dataset)
    first = method.configurations(kind, 1)[0]
    return {
        "method": cell.method,
        "dataset": cell.dataset,
        "split": cell.split,
        "space": kind,
        "configurations": 0,
        "settings": {**method.settings, **first},
        "versions": versions(),
    }
