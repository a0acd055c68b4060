"""What a search leaves: the best recipe, a record of everything tried, and pictures."""

import statistics
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from ppro.files import readable_json, write_text
from ppro.parts import METRICS
from ppro.search.tuning.evaluation import Evaluator
from ppro.search.tuning.study import SharedStudy
from ppro.settings.recipe import PaperResult, Recipe, recipe_toml
from ppro.settings.settings import Settings
from ppro.training.metrics import Metric
from ppro.training.versions import versions


def best_recipe(
    study: SharedStudy,
    evaluator: Evaluator,
    dataset: str,
    space: str,
    paper: PaperResult | None = None,
) -> Recipe | None:
    """The best configuration so far, with a note of how it was found; None before there is one."""
    ranked = study.complete()
    if not ranked:
        return None
    settings = settings_of(study, evaluator, ranked[0])
    note = _note(study, evaluator, ranked[0], space)
    split = evaluator.splits.name
    return Recipe(dataset=dataset, split=split, settings=settings, paper=paper, note=note)


def settings_of(study: SharedStudy, evaluator: Evaluator, trial: FrozenTrial) -> Settings:
    """Return the settings that a trial stands for, with the seed that trainings begin at."""
    return evaluator.base.replace(**study.space.changes(trial.params))


def _note(study: SharedStudy, evaluator: Evaluator, best: FrozenTrial, space: str) -> str:
    counts, seeds = study.counts(), evaluator.seeds
    scores, metric = best.user_attrs["accuracies"], metric_of(evaluator)
    reached = metric.shown(*_own(metric, scores))
    return (
        f"best of {counts.tried} configurations ({counts.pruned} pruned after one seed) of the "
        f"space '{space}': validation {metric.name} {reached} on seeds {seeds[0]} to "
        f"{seeds[-1]}; no test label was read"
    )


def metric_of(evaluator: Evaluator) -> type[Metric]:
    """Return what a search measures."""
    found: type[Metric] = METRICS.get(evaluator.base.training.metric)
    return found


def _own(metric: type[Metric], scores: Sequence[float]) -> tuple[float, float | None]:
    """Return mean and spread of a study's scores in the unit of the metric."""
    spread = statistics.stdev(scores) / 100 if len(scores) > 1 else None
    return metric.of_worth(statistics.fmean(scores) / 100), spread


def record(study: SharedStudy, evaluator: Evaluator, recipe: Recipe | None) -> dict[str, Any]:
    """Return the whole search, for a JSON file; values of the metric are times a hundred."""
    counts, trials = study.counts(), study.study.get_trials(deepcopy=False)
    measured = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    best, metric = study.complete()[:1], metric_of(evaluator)

    def own(worth: float | None) -> float | None:
        return None if worth is None else metric.of_worth(worth)

    def own_of(trial: FrozenTrial) -> list[float | None] | None:
        worths = trial.user_attrs.get("accuracies")
        return None if worths is None else [own(worth) for worth in worths]

    return {
        "study": study.study.study_name,
        "configurations": counts.tried,
        "complete": counts.complete,
        "pruned": counts.pruned,
        "failed": counts.failed,
        "running": counts.running,
        "seeds": list(evaluator.seeds),
        "split": evaluator.splits.name,
        "metric": metric.name,
        "best": {"trial": best[0].number, "validation_mean": own(best[0].value)} if best else None,
        "settings": None if recipe is None else recipe.settings.flat(),
        "importance": importance(study),
        "tried": [{"trial": t.number, **t.params, "validation": own_of(t)} for t in measured],
        "versions": versions(),
    }


def importance(study: SharedStudy) -> dict[str, float]:
    """How much of the spread of the results each choice explains; empty where too few are done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
            return optuna.importance.get_param_importances(study.study, evaluator=evaluator)
        except (ValueError, RuntimeError):
            return {}


def write_outcome(
    folder: Path, out: Path, study: SharedStudy, evaluator: Evaluator, recipe: Recipe | None
) -> dict[str, Any]:
    """Write record and recipe; returns the record."""
    facts = record(study, evaluator, recipe)
    if recipe is not None:
        write_text(out, recipe_toml(recipe))
    write_text(folder / "search.json", readable_json(facts))
    return facts
