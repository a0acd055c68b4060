"""The paper's design: APPNP, its controllers, no consistency; and what goes beyond it.

Beside a number of the paper stands a number of its design alone. Every graph and strategy has a
recipe of it, whose name ends in ``-paper``, next to the best one.
"""

from typing import Any

from ppro.data import dataset_info
from ppro.paper.cells import Cell
from ppro.paper.contest import METHODS, candidate_of, competing
from ppro.paper.experiment import Candidate
from ppro.paper.store import Store
from ppro.search.offers import DESIGN, Offer
from ppro.settings.recipes import PAPER_DESIGN, recipe_names
from ppro.settings.settings import PPRO, Settings
from ppro.training.backbone_alone import BARE

_OF_CONTROLLERS = {
    "judges": "judges",
    "judge_share": "judges",
    "use_progress": "step inputs",
    "controller_inputs": "predictions as inputs",
    "priority_scale": "priorities of mean 1",
}
"""Settings of the controllers that the paper has at their defaults, and what others are called."""
_OF_LOSSES = {
    "consistency": "consistency",
    "fading": "fading labels",
    "node_dropout": "node dropout",
}
_OF_FIRST_LAYER = ("feature_dropout", "state_dropout", "first_layer")
_OPTIONS = (
    *("form", "max_steps", "hidden", "alpha", "concat", "first_layer", "self_loops"),
    *("feature_norm", "decay", "feature_dropout", "state_dropout", "edge_dropout", "node_dropout"),
    *("consistency", "consistency_forwards", "consistency_on", "fading", "weight_form", "start"),
    *("judges", "judge_share", "use_progress", "controller_inputs", "priority_scale", "selection"),
)
"""What a table tells of a recipe beside its backbone, where it is not the default."""
_ALWAYS = ("form", "max_steps")


def beyond(settings: Settings) -> list[str]:
    """Return what settings have that the paper has not, in words; nothing if they are its own."""
    flat, usual = settings.flat(), _defaults(settings)
    if settings.model != PPRO or settings.backbone != "appnp":
        return ["another network"]
    found = ["features propagate"] if flat["form"] == "features" else []
    found += [name for key, name in _OF_LOSSES.items() if flat[key] > 0]
    if any(flat[key] != usual[key] for key in _OF_FIRST_LAYER):
        found.append("dropout or first layer apart")
    if settings.strategy != BARE:
        compares = settings.controllers.teaching == "compare"
        found += ["comparing controllers"] if compares else []
        found += [
            name
            for key, name in _OF_CONTROLLERS.items()
            if not compares and flat[key] != usual[key]
        ]
    return list(dict.fromkeys(found))


def is_papers(settings: Settings) -> bool:
    """Tell whether settings are of the paper's design."""
    return not beyond(settings)


def options_of(settings: Settings) -> str:
    """Return the backbone, and what options it and the controllers have but for the defaults."""
    flat, usual = settings.flat(), _defaults(settings)
    if settings.strategy == BARE:
        flat = {k: v for k, v in flat.items() if k not in dict(settings.controllers)}
    shown = [key for key in _OPTIONS if key in flat and flat[key] != usual[key]]
    told = [key for key in _OPTIONS if key in flat and (key in shown or key in _ALWAYS)]
    return ", ".join([settings.backbone, *(f"{key} {_word(flat[key])}" for key in told)])


def _defaults(settings: Settings) -> dict[str, Any]:
    return {
        key: field.default
        for group in settings.groups()
        for key, field in type(group).model_fields.items()
    }


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def names() -> list[str]:
    """Return the shipped recipes of the paper's design."""
    return [name for name in recipe_names() if name.endswith(PAPER_DESIGN)]


def cell(dataset: str, strategy: str) -> Cell:
    """Return what is measured of a search in the space of the paper's design."""
    split = dataset_info(dataset).splits[0]
    return Cell(dataset, split, METHODS[strategy], offer=Offer(DESIGN))


def choose(dataset: str, strategy: str, store: Store) -> tuple[Candidate, int] | None:
    """Return the recorded settings of the design that validate best, and how many were searched.

    All had ten runs on the same seeds, which are not those that the recipe is measured on.
    """
    found, searched = list[Candidate](), 0
    for one in (*competing(dataset, strategy), cell(dataset, strategy)):
        result = store.one(one.place)
        candidate = None if result is None else candidate_of(result, result["runs"])
        if result is None or candidate is None or not is_papers(candidate.settings):
            continue
        found.append(candidate)
        searched += 0 if one.changes else result["configurations"]
    if not found:
        return None
    return max(found, key=lambda candidate: candidate.validation), searched
