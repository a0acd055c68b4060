"""The shipped recipes, and all that was proposed for them, on fresh seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ppro.data import PAPERS, dataset_info
from ppro.paper import fresh, shipped_nodes
from ppro.paper.cells import by_size
from ppro.paper.choice import proposals
from ppro.paper.contest import STRATEGIES
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.render import section
from ppro.paper.statistics import mean_and_spread
from ppro.paper.store import Store
from ppro.settings.recipe import Recipe
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings
from ppro.training.backbone_alone import BARE

TITLE = "The shipped recipes on fresh seeds"
_TEXT = (
    "Settings were chosen on validation accuracy (`make recipes`); the runs below begin at seed "
    f"{fresh.FIRST_SEED}. Where splits are random, every run has one of its own, and there are "
    f"{fresh.MORE} times as many: splits differ more than seeds. Test accuracy in percent, mean ± "
    "standard deviation; in brackets the paper's number. The difference from the backbone alone is "
    "paired over the same seeds and splits, with its standard error."
)
_HEAD = "graph|split|strategy|searched|runs|validation|test|against the backbone"


@dataclass(frozen=True)
class OfRecipe(Experiment):
    """The fresh runs of a shipped recipe, which must tell what steps and priorities did."""

    def is_done(self, store: Store) -> bool:
        """Tell whether its file is of the same settings, has enough runs, and tells that."""
        record = store.one(self.place) if super().is_done(store) else None
        if record is None:
            return False
        bare = self.candidates[0].settings.strategy == BARE
        return bare or shipped_nodes.is_recorded(record)


def names() -> list[str]:
    """Return the recipes of the paper's graphs."""
    return [f"{d}-{s}" for d in PAPERS for s in STRATEGIES]


def experiments(plan: Plan, wanted: Sequence[str] | None = None) -> list[Experiment]:
    """Return the fresh runs of recipes and of all that was proposed for them.

    Where there is no search at all, proposals are not looked for.
    """
    store = plan.store if plan.configurations else None
    return by_size(
        _experiment(name, settings, plan)
        for name in wanted or names()
        for settings in _competing(name, store)
    )


def _experiment(name: str, settings: Settings, plan: Plan) -> Experiment:
    made = fresh.of_recipe(name, settings, plan)
    return OfRecipe(**vars(made)) if settings == shipped_recipe(name).settings else made


def _competing(name: str, store: Store | None) -> list[Settings]:
    recipe = shipped_recipe(name)
    found = [recipe.settings]
    if store is not None:
        proposed = proposals(recipe.dataset, recipe.settings.strategy, store)
        found += [proposal.candidate.settings for proposal in proposed.values()]
    return [settings for i, settings in enumerate(found) if settings not in found[:i]]


def markdown(store: Store) -> str:
    """Return what the recipes reach, whether PPro beats its backbone, and how nodes differ."""
    records = {name: fresh.reached(name, store) for name in names()}
    rows = [_row(shipped_recipe(name), record, store) for name, record in records.items()]
    reached = section(TITLE, _TEXT, _HEAD, rows if any(records.values()) else [], "shipped")
    measured = [
        (recipe, record)
        for name, record in records.items()
        if record is not None and (recipe := shipped_recipe(name)).settings.strategy != BARE
    ]
    return "\n".join(part for part in (reached, shipped_nodes.markdown(measured)) if part)


def _row(recipe: Recipe, record: dict[str, Any] | None, store: Store) -> list[str]:
    paper = "" if recipe.paper is None else f" ({recipe.paper.accuracy:.1f})"
    searched = "–" if recipe.found is None else str(recipe.found.configurations)
    measured = ["–", "–", f"not measured yet{paper}", "–"]
    if record is not None:
        test = f"{mean_and_spread(record)}{paper}"
        validation = f"{record['val_mean']:.1f}"
        measured = [str(record["runs"]), validation, test, against_backbone(recipe, store)]
    title = dataset_info(recipe.dataset).title
    return [title, recipe.split, recipe.settings.strategy, searched, *measured]


def against_backbone(recipe: Recipe, store: Store) -> str:
    """Return how a recipe differs from the backbone alone, as it stands in a table."""
    found = fresh.comparison(recipe.dataset, recipe.settings.strategy, store)
    if found is None:
        return "–"
    return f"{found.difference:+.2f} ± {found.standard_error:.2f}, {found.verdict}"
