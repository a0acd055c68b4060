"""Runs on seeds and splits that no search and no round has used.

What a recipe is worth is measured on them: the shipped settings, whatever was proposed for them,
and what the controllers alone add to the backbone.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.statistics import Comparison, Judged, compare, judged
from ppro.paper.store import Store
from ppro.search.methods import method_of
from ppro.settings.recipes import PAPER_DESIGN, recipe_names, shipped_recipe
from ppro.settings.settings import Settings

FIRST_SEED = 2000
"""Fresh seeds begin here; those of tables at 0, of searches at 1000, of rounds at 3000 and 4000."""
MORE = 5
"""Times the runs where every run has a split of its own: ten leave a mean uncertain by a point."""


def runs_on(dataset: str, plan: Plan) -> int:
    """Return how many fresh runs settings have on a graph."""
    return plan.runs * (1 if dataset_info(dataset).splits[0] == PUBLIC else MORE)


def fresh_experiment(
    place: str, dataset: str, settings: Settings, plan: Plan, **facts: Any
) -> Experiment:
    """Return the fresh runs of settings."""
    candidate = Candidate(method_of(settings).name, settings.replace(**plan.changes))
    split, runs = dataset_info(dataset).splits[0], runs_on(dataset, plan)
    return Experiment(place, dataset, split, (candidate,), runs, FIRST_SEED, facts=facts)


def of_recipe(name: str, settings: Settings, plan: Plan) -> Experiment:
    """Return the fresh runs of settings that were proposed for a recipe.

    Those of a recipe of the paper's design lie with those of the best one: they may be the same.
    """
    name = name.removesuffix(PAPER_DESIGN)
    place, dataset = f"recipes/{name}/{_digest(settings)}", name.rpartition("-")[0]
    return fresh_experiment(place, dataset, settings, plan, recipe=name)


def _digest(settings: Settings) -> str:
    """Return a short name of settings, the same whatever their epochs.

    Defaults have no part in it, so that a new setting does not change the names of old results.
    """
    given = {
        key: value
        for group in settings.groups()
        for key, value in dict(group).items()
        if value != type(group).model_fields[key].default and key != "epochs"
    }
    text = json.dumps([settings.model, settings.strategy, settings.backbone, given], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def measured(name: str, settings: Settings, store: Store) -> dict[str, Any] | None:
    """Return the fresh runs of settings, whatever their epochs, or None where there are none."""
    experiment = of_recipe(name, settings, Plan(store.root))
    return None if experiment.record(store) is None else store.one(experiment.place)


def reached(name: str, store: Store) -> dict[str, Any] | None:
    """Return the fresh runs of a shipped recipe, or None where there are none."""
    return measured(name, shipped_recipe(name).settings, store)


def all_of(name: str, store: Store) -> list[dict[str, Any]]:
    """Return the fresh runs of all settings that a recipe has had, the best validation first."""
    found = [store.one(place) for place in store.places(f"recipes/{name}")]
    return sorted((one for one in found if one is not None), key=lambda one: -one["val_mean"])


def comparison(name: str, store: Store) -> Comparison | None:
    """Return a recipe against that of the backbone alone, of the same design.

    Returns None where one of them is missing, and for the backbone itself.
    """
    design = PAPER_DESIGN if name.endswith(PAPER_DESIGN) else ""
    dataset, _, strategy = name.removesuffix(design).rpartition("-")
    base = f"{dataset}-none{design}"
    if strategy == "none" or base not in recipe_names():
        return None
    ours, alone = (reached(one, store) for one in (name, base))
    if ours is None or alone is None or ours["runs"] != alone["runs"]:
        return None
    return compare(ours["test"], alone["test"])


def verdicts(names: Sequence[str], store: Store) -> dict[str, Judged]:
    """Return the comparisons of recipes, corrected for their number; only those that are known."""
    return store.once(("verdicts", tuple(names)), lambda: _verdicts(names, store))


def _verdicts(names: Sequence[str], store: Store) -> dict[str, Judged]:
    found = {name: comparison(name, store) for name in names}
    return judged({name: one for name, one in found.items() if one is not None})
