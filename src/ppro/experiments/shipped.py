"""The shipped recipes on seeds and splits that no search and no table has used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ppro.config import Recipe, Settings
from ppro.data import DATASETS, dataset_info
from ppro.experiments.batches import Job, train_all
from ppro.experiments.cells import Cell, summary
from ppro.experiments.pool import OnDone, run_all
from ppro.experiments.statistics import Comparison, compare
from ppro.experiments.store import Store
from ppro.experiments.tasks import Plan, graph_of, holds, size_of, splits_of
from ppro.recipes import shipped_recipe
from ppro.runfolder import versions
from ppro.threads import use_threads

FIRST_SEED = 2000
"""Seeds of this check begin here; those of tables at 0, those of searches at 1000."""
SMALL, MORE = 1000, 5
"""Graphs with fewer nodes have so many times the runs: ten leave a mean uncertain by a point."""
STRATEGIES = ("none", "l2b", "l2u")
TITLE = "The shipped recipes on fresh seeds"


def names() -> list[str]:
    """Recipes of the graphs that are not generated."""
    return [f"{d}-{s}" for d, info in DATASETS.items() if info.sources for s in STRATEGIES]


def path_of(name: str, store: Store) -> Path:
    """Where the result of a recipe is kept."""
    return store.root / "recipes" / f"{name}.json"


def missing(wanted: Sequence[str], plan: Plan) -> list[str]:
    """Those that have no result, one of fewer runs, or one of other settings; the largest first."""
    todo = (name for name in wanted if not _is_done(name, plan))
    return sorted(todo, key=lambda name: size_of(shipped_recipe(name).dataset), reverse=True)


def _is_done(name: str, plan: Plan) -> bool:
    wanted = shipped_recipe(name).settings.replace(**plan.changes).model_dump(exclude_none=True)
    runs = runs_on(shipped_recipe(name).dataset, plan)
    return holds(plan.store.read(path_of(name, plan.store)), wanted, runs)


def runs_on(dataset: str, plan: Plan) -> int:
    """How many fresh runs settings have on a graph."""
    expected = dataset_info(dataset).expected
    small = expected is not None and expected.nodes < SMALL
    return plan.runs * (MORE if small else 1)


def reached(name: str, store: Store) -> dict[str, Any] | None:
    """What a recipe reached, or None where no result is of its settings, but for the epochs."""
    record = store.read(path_of(name, store))
    if record is None:
        return None
    epochs = record["settings"]["epochs"]
    wanted = shipped_recipe(name).settings.replace(epochs=epochs).model_dump(exclude_none=True)
    return record if holds(record, wanted, 1) else None


def run_recipes(wanted: Sequence[str], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Train all, one after the other or side by side; each leaves its file when it is done."""
    run_all(do, wanted, plan, jobs, on_done)


def do(name: str, plan: Plan) -> str:
    """Train the runs of a recipe and write its file; returns a line that says what came out."""
    if plan.threads is not None:
        use_threads(plan.threads)
    recipe = shipped_recipe(name)
    record = {
        "recipe": name,
        **fresh_runs(recipe.dataset, recipe.settings, plan),
        "versions": versions(),
    }
    plan.store.write(path_of(name, plan.store), record)
    return f"{name}: {record['test_mean']:.2f} ± {record['test_std']:.2f}"


def fresh_runs(dataset: str, settings: Settings, plan: Plan) -> dict[str, Any]:
    """What settings reach on the fresh seeds, and on splits of their own where they are random."""
    split = dataset_info(dataset).splits[0]
    graph = graph_of(dataset, plan.data_root, plan.offline)
    runs = runs_on(dataset, plan)
    splits = splits_of(Cell(dataset, split, ""), graph, plan, runs, FIRST_SEED)
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


def markdown(store: Store) -> str:
    """What the recipes reach, and whether PPro beats its backbone."""
    records = {name: reached(name, store) for name in names()}
    if not any(records.values()):
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce shipped`.\n"
    lines = [
        f"## {TITLE}\n",
        "Settings were chosen on validation accuracy (`make recipes`); the runs below begin at "
        f"seed {FIRST_SEED}, on splits of their own where splits are random; graphs of fewer than "
        f"{SMALL} nodes, where ten runs leave a mean uncertain by more than a point, have {MORE} "
        "times as many. Test accuracy in percent, mean ± standard deviation; in brackets the "
        "paper's number. The difference from the backbone alone is paired over the same seeds and "
        "splits, with its standard error.\n",
        "| graph | split | strategy | searched | runs | validation | test | against the backbone |",
        "|---" * 8 + "|",
    ]
    lines += [_line(shipped_recipe(name), record, store) for name, record in records.items()]
    return "\n".join(lines) + "\n"


def _line(recipe: Recipe, record: dict[str, Any] | None, store: Store) -> str:
    paper = "" if recipe.paper is None else f" ({recipe.paper.accuracy:.1f})"
    searched = "–" if recipe.found is None else str(recipe.found.configurations)
    measured = ("–", "–", f"not measured yet{paper}", "–")
    if record is not None:
        test = f"{record['test_mean']:.1f} ± {record['test_std']:.1f}{paper}"
        runs, validation = str(record["runs"]), f"{record['val_mean']:.1f}"
        measured = runs, validation, test, _against(recipe, store)
    title = dataset_info(recipe.dataset).title
    places = title, recipe.split, recipe.settings.strategy, searched, *measured
    return "| " + " | ".join(places) + " |"


def _against(recipe: Recipe, store: Store) -> str:
    found = comparison(recipe.dataset, recipe.settings.strategy, store)
    if found is None:
        return "–"
    return f"{found.difference:+.2f} ± {found.standard_error:.2f}, {found.verdict}"


def comparison(dataset: str, strategy: str, store: Store) -> Comparison | None:
    """A strategy against the backbone alone, or None where one of them is missing."""
    if strategy == "none":
        return None
    pair = [reached(f"{dataset}-{s}", store) for s in (strategy, "none")]
    if pair[0] is None or pair[1] is None or pair[0]["runs"] != pair[1]["runs"]:
        return None
    return compare(pair[0]["test"], pair[1]["test"])
