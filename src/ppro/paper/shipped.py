"""The shipped recipes, and all that was proposed for them, on fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ppro.data import DATASETS, dataset_info
from ppro.paper import fresh
from ppro.paper.contest import STRATEGIES
from ppro.paper.pool import OnDone, run_all
from ppro.paper.proposals import proposals
from ppro.paper.statistics import Comparison, compare
from ppro.paper.store import Store
from ppro.paper.tasks import Plan, size_of
from ppro.runs.versions import versions
from ppro.settings.recipe import Recipe
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings

TITLE = "The shipped recipes on fresh seeds"


@dataclass(frozen=True)
class Trial:
    """Settings to train for a recipe."""

    name: str
    settings: Settings


def names() -> list[str]:
    """Recipes of the graphs that are not generated."""
    return [f"{d}-{s}" for d, info in DATASETS.items() if info.sources for s in STRATEGIES]


def missing(wanted: Sequence[str], plan: Plan) -> list[Trial]:
    """Recipes and proposals for them without fresh runs, or with fewer; the largest graphs first.

    Where there is no search at all, proposals are not looked for.
    """
    trials = [Trial(name, settings) for name in wanted for settings in _competing(name, plan)]
    todo = (trial for trial in trials if not _is_done(trial, plan))
    return sorted(todo, key=lambda t: size_of(shipped_recipe(t.name).dataset), reverse=True)


def _competing(name: str, plan: Plan) -> list[Settings]:
    recipe = shipped_recipe(name)
    found = [recipe.settings]
    if plan.configurations:
        proposed = proposals(recipe.dataset, recipe.settings.strategy, plan.store)
        found += [choice.entry.settings for choice in proposed.values()]
    return [settings for i, settings in enumerate(found) if settings not in found[:i]]


def _is_done(trial: Trial, plan: Plan) -> bool:
    record = fresh.measured(trial.name, trial.settings.replace(**plan.changes), plan.store)
    return fresh.is_enough(record, shipped_recipe(trial.name).dataset, trial.settings, plan)


def reached(name: str, store: Store) -> dict[str, Any] | None:
    """What a recipe reached, or None where no result is of its settings, but for the epochs."""
    return fresh.measured(name, shipped_recipe(name).settings, store)


def run_recipes(wanted: Sequence[Trial], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Train all, one after the other or side by side; each leaves its file when it is done."""
    run_all(do, wanted, plan, jobs, on_done)


def do(trial: Trial, plan: Plan) -> str:
    """Train the runs of settings and write their file; returns a line that says what came out."""
    record = {
        **fresh.fresh_runs(shipped_recipe(trial.name).dataset, trial.settings, plan),
        "versions": versions(),
    }
    fresh.keep(trial.name, record, plan.store)
    return f"{trial.name}: {record['test_mean']:.2f} ± {record['test_std']:.2f}"


def markdown(store: Store) -> str:
    """What the recipes reach, and whether PPro beats its backbone."""
    records = {name: reached(name, store) for name in names()}
    if not any(records.values()):
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce shipped`.\n"
    lines = [
        f"## {TITLE}\n",
        "Settings were chosen on validation accuracy (`make recipes`); the runs below begin at "
        f"seed {fresh.FIRST_SEED}. Where splits are random, every run has one of its own, and "
        f"there are {fresh.MORE} times as many: splits differ more than seeds. Test accuracy in "
        "percent, mean ± standard deviation; in brackets the paper's number. The difference from "
        "the backbone alone is paired over the same seeds and splits, with its standard error.\n",
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
