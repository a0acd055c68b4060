"""What figures are drawn from beyond the tables: runs at changed settings, curves, single nodes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from ppro.data import dataset_info
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.paper.cells import Cell, run_cell
from ppro.paper.figures.nodes import node_arrays, write_arrays
from ppro.paper.pool import OnDone, run_all
from ppro.paper.store import Store
from ppro.paper.tasks import Plan, graph_of, holds, splits_of
from ppro.runs.versions import versions
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from ppro.training.stopping import MEASURED
from ppro.training.threads import use_threads

Kind = Literal["cells", "curves", "nodes"]
_VALIDATION = MEASURED.index("val_accuracy")


@dataclass(frozen=True)
class Work:
    """Runs that a figure needs.

    Args:
        kind: what is kept of them: accuracies, as for a cell of a table; the validation accuracy
            of every epoch; or step and priority of every node.
    """

    kind: Kind
    cell: Cell

    @property
    def label(self) -> str:
        """What progress calls it."""
        return f"{self.kind} {self.cell.label}"

    @property
    def size(self) -> int:
        """A rough measure of its work, to begin with the largest."""
        expected = dataset_info(self.cell.dataset).expected
        return 0 if expected is None else expected.nodes + expected.edges

    def path(self, store: Store) -> Path:
        """Its result file; accuracies lie where tables keep theirs."""
        cell = self.cell
        place = store.cell_path(cell.dataset, cell.split, cell.method, cell.variant)
        return store.root / self.kind / place.parent.name / place.name

    def read(self, store: Store) -> dict[str, Any] | None:
        """Its result, or None where there is none yet."""
        return store.read(self.path(store))


def chosen(cell: Cell, store: Store) -> Mapping[str, Any]:
    """The settings that a search chose for a cell; without a search, those of the recipe."""
    searched = store.read(store.search_path(cell.dataset, cell.split, cell.method))
    if searched is not None:
        return searched
    recipe = shipped_recipe(f"{cell.dataset}-{cell.method}")
    return {"settings": recipe.settings.model_dump(exclude_none=True), "configurations": 0}


def _settings(cell: Cell, plan: Plan) -> Settings:
    values = chosen(cell, plan.store)["settings"]
    return Settings(**{**values, **plan.changes, **cell.changes})


def missing(works: Sequence[Work], plan: Plan) -> list[Work]:
    """Those that have no file, one of fewer runs, or one of other settings; the largest first."""
    found = {work.label: work for work in works if not _is_done(work, plan)}
    return sorted(found.values(), key=lambda work: -work.size)


def _is_done(work: Work, plan: Plan) -> bool:
    wanted = _settings(work.cell, plan).model_dump(exclude_none=True)
    return holds(work.read(plan.store), wanted, plan.runs)


def run_works(works: Sequence[Work], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Do all, one after the other or side by side; each leaves its file when it is done."""
    run_all(do, works, plan, jobs, on_done)


def do(work: Work, plan: Plan) -> str:
    """Train the runs of a work and write its file; returns a line that says what came out."""
    if plan.threads is not None:
        use_threads(plan.threads)
    cell = work.cell
    graph = graph_of(cell.dataset, plan.data_root, plan.offline)
    splits = splits_of(cell, graph, plan, plan.runs, 0)
    record = _cell(cell, graph, splits, plan) if work.kind == "cells" else None
    if record is None:
        record, result = _trained(cell, graph, splits, plan)
        if work.kind == "curves":
            record["val_accuracy"] = _curves(result)
        else:
            # The arrays first: a record without its arrays must never look complete.
            write_arrays(work.path(plan.store), node_arrays(graph, result.nodes))
    plan.store.write(work.path(plan.store), record)
    return f"{work.label}: {sum(record['test']) / len(record['test']):.2f}"


def _cell(cell: Cell, graph: Graph, splits: Splits, plan: Plan) -> dict[str, Any]:
    """What tables keep of a cell."""
    source = chosen(cell, plan.store)
    source = {**source, "settings": {**source["settings"], **plan.changes}}
    return run_cell(cell, graph, splits, source, torch.device(plan.device))


def _trained(cell: Cell, graph: Graph, splits: Splits, plan: Plan) -> tuple[dict[str, Any], Fit]:
    start, settings = time.perf_counter(), _settings(cell, plan)
    runs = [settings.replace(seed=run) for run in range(plan.runs)]
    result = fit(graph, splits, runs, device=torch.device(plan.device))
    if result.history.interrupted:
        raise KeyboardInterrupt
    record = {
        "method": cell.method,
        "dataset": cell.dataset,
        "split": cell.split,
        "changes": dict(cell.changes),
        "runs": plan.runs,
        "test": result.test_accuracy.tolist(),
        "val": result.val_accuracy.tolist(),
        "settings": settings.model_dump(exclude_none=True),
        "device": plan.device,
        "seconds": time.perf_counter() - start,
        "versions": versions(),
    }
    return record, result


def _curves(result: Fit) -> list[list[float]]:
    """Validation accuracy in percent by run and epoch."""
    by_run = result.history.metrics[:, _VALIDATION].T.tolist()
    return [[round(100 * value, 3) for value in run] for run in by_run]
