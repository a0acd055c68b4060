"""The shipped recipes, and where asked for all that was proposed for them, on fresh seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ppro.data import PAPERS, dataset_info
from ppro.paper import fresh, shipped_nodes
from ppro.paper.cells import by_size
from ppro.paper.choice import proposals
from ppro.paper.contest import STRATEGIES
from ppro.paper.design import beyond, is_papers, options_of
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.render import section
from ppro.paper.statistics import Judged, mean_and_spread
from ppro.paper.store import Store
from ppro.settings.recipe import Recipe
from ppro.settings.recipes import PAPER_DESIGN, recipe_names, shipped_recipe
from ppro.settings.settings import Settings
from ppro.training.backbone_alone import BARE

SHARED = (
    "Seeds that choose never report; but all random splits are of one graph, so the nodes that are "
    "tested here were trained on or validated in other splits when settings were chosen: a search "
    "has seen their labels, though no weight has."
)
TITLE = "The shipped recipes on fresh seeds"
_TEXT = (
    "Settings were chosen on validation nodes (`make recipes`); the runs below begin at seed "
    f"{fresh.FIRST_SEED}. Where splits are random, every run has one of its own, and there are "
    f"{fresh.MORE} times as many: splits differ more than seeds. {SHARED} Test accuracy in "
    "percent, mean ± standard deviation. A name that ends in `-paper` is the best recorded recipe "
    "of the paper's design, APPNP without consistency; in brackets, beside that design alone, the "
    "paper's number. *Beyond the paper*: what a recipe has that the paper has not. The difference "
    "from the backbone alone, of the same design, is paired over the same seeds and splits, with "
    "its standard error; *better* and *worse* are said after Holm's correction for all comparisons "
    "of this table."
)
_HEAD = (
    "graph|split|strategy|network and options|beyond the paper|searched|runs|validation|test|"
    "against the backbone"
)


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
    """Return the recipes of the paper's graphs, those of its design after the best ones."""
    known, found = set(recipe_names()), list[str]()
    for dataset in PAPERS:
        best = [f"{dataset}-{strategy}" for strategy in STRATEGIES]
        papers = [f"{name}{PAPER_DESIGN}" for name in best]
        found += [*best, *(name for name in papers if name in known)]
    return found


def experiments(plan: Plan, wanted: Sequence[str] | None = None) -> list[Experiment]:
    """Return the fresh runs of recipes."""
    chosen = wanted or names()
    return by_size(_experiment(name, shipped_recipe(name).settings, plan) for name in chosen)


def with_proposals(plan: Plan, wanted: Sequence[str] | None = None) -> list[Experiment]:
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
    if name.endswith(PAPER_DESIGN) or settings != shipped_recipe(name).settings:
        return made
    return OfRecipe(**vars(made))


def _competing(name: str, store: Store | None) -> list[Settings]:
    recipe = shipped_recipe(name)
    found = [recipe.settings]
    if store is not None and not name.endswith(PAPER_DESIGN):
        proposed = proposals(recipe.dataset, recipe.settings.strategy, store)
        found += [proposal.candidate.settings for proposal in proposed.values()]
    return [settings for i, settings in enumerate(found) if settings not in found[:i]]


def markdown(store: Store) -> str:
    """Return what the recipes reach, whether PPro beats its backbone, and how nodes differ."""
    records = {name: fresh.reached(name, store) for name in names()}
    found = fresh.verdicts(names(), store)
    rows = [_row(name, record, found.get(name)) for name, record in records.items()]
    reached = section(TITLE, _TEXT, _HEAD, rows if any(records.values()) else [], "shipped")
    measured = [
        (recipe, record)
        for name, record in records.items()
        if record is not None
        and not name.endswith(PAPER_DESIGN)
        and (recipe := shipped_recipe(name)).settings.strategy != BARE
    ]
    return "\n".join(part for part in (reached, shipped_nodes.markdown(measured)) if part)


def _row(name: str, record: dict[str, Any] | None, compared: Judged | None) -> list[str]:
    recipe = shipped_recipe(name)
    searched = "–" if recipe.found is None else str(recipe.found.configurations)
    paper = papers_number(recipe)
    measured = ["–", "–", f"not measured yet{paper}", "–"]
    if record is not None:
        test = f"{mean_and_spread(record)}{paper}"
        told = "–" if compared is None else compared.told
        measured = [str(record["runs"]), f"{record['val_mean']:.1f}", test, told]
    title = dataset_info(recipe.dataset).title
    own = name.removeprefix(f"{recipe.dataset}-")
    more = ", ".join(beyond(recipe.settings)) or "–"
    network = options_of(recipe.settings)
    return [title, recipe.split, own, network, more, searched, *measured]


def papers_number(recipe: Recipe) -> str:
    """Return the paper's number in brackets, beside a recipe of its design alone."""
    if recipe.paper is None or not is_papers(recipe.settings):
        return ""
    return f" ({recipe.paper.accuracy:.1f})"
