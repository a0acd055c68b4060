"""Runs on seeds and splits that no search and no round has used; one file for all settings had."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.paper.batches import Job, train_all
from ppro.paper.cells import Cell, summary
from ppro.paper.store import Store
from ppro.paper.tasks import Plan, graph_of, holds, splits_of
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads

FIRST_SEED = 2000
"""Fresh seeds begin here; those of tables at 0, of searches at 1000, of rounds at 3000 and 4000."""
MORE = 5
"""Times the runs where every run has a split of its own: ten leave a mean uncertain by a point."""


def runs_on(dataset: str, plan: Plan) -> int:
    """How many fresh runs settings have on a graph."""
    return plan.runs * (1 if dataset_info(dataset).splits[0] == PUBLIC else MORE)


def fresh_runs(dataset: str, settings: Settings, plan: Plan) -> dict[str, Any]:
    """What settings reach on the fresh seeds, and on splits of their own where they are random."""
    split = dataset_info(dataset).splits[0]
    graph = graph_of(dataset, plan.data_root, plan.offline)
    runs = runs_on(dataset, plan)
    splits = splits_of(Cell(dataset, split, ""), graph, plan, runs, FIRST_SEED)
    if plan.threads is not None:
        use_threads(plan.threads)
    settings = settings.replace(**plan.changes)
    jobs = [Job(settings.replace(seed=FIRST_SEED + run), run) for run in range(runs)]
    return {
        "dataset": dataset,
        "split": split,
        "first_seed": FIRST_SEED,
        **summary(train_all(graph, splits, jobs, torch.device(plan.device))),
        "settings": settings.model_dump(exclude_none=True),
        "device": plan.device,
    }


def is_enough(
    record: Mapping[str, Any] | None, dataset: str, settings: Settings, plan: Plan
) -> bool:
    """Whether a record is of these settings, as the plan changes them, and has all the runs."""
    wanted = settings.replace(**plan.changes).model_dump(exclude_none=True)
    return holds(record, wanted, runs_on(dataset, plan))


def keep(name: str, record: Mapping[str, Any], store: Store) -> None:
    """Write the fresh runs of some settings of a recipe; those of other settings stay."""
    found = [path for path in _paths(name, store) if is_of(store.read(path), record["settings"])]
    text = repr(sorted(record["settings"].items()))
    new = _folder(name, store) / f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    store.write(found[0] if found else new, {"recipe": name, **record})


def measured(name: str, settings: Settings, store: Store) -> dict[str, Any] | None:
    """The fresh runs of these settings, whatever their epochs, or None where there are none."""
    wanted = settings.model_dump(exclude_none=True)
    return next((record for record in all_of(name, store) if is_of(record, wanted)), None)


def all_of(name: str, store: Store) -> list[dict[str, Any]]:
    """The fresh runs of all settings that a recipe has had, the best validation first."""
    found = [record for path in _paths(name, store) if (record := store.read(path)) is not None]
    return sorted(found, key=lambda record: -record["val_mean"])


def is_of(record: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> bool:
    """Whether a record is of these settings, whatever their epochs."""
    if record is None:
        return False
    return holds(record, {**settings, "epochs": record["settings"]["epochs"]}, 1)


def _paths(name: str, store: Store) -> list[Path]:
    return sorted(_folder(name, store).glob("*.json"))


def _folder(name: str, store: Store) -> Path:
    return store.root / "recipes" / name
