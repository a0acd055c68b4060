"""Which recipe a training takes: the named one, the shipped one, or what suits the graph."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.data import dataset_info, default_split, kind_of
from ppro.data.files import Reading, file_splits
from ppro.data.loading import make_splits
from ppro.data.names import is_drawn, split_names
from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.files import as_name, whole_file
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.parts import RIVALS, STRATEGIES
from ppro.parts.choices import FeatureNorm
from ppro.search.auto_candidates import PLAIN as PLAIN_CANDIDATE
from ppro.search.auto_final import FinalPlan, search_and_plan
from ppro.search.auto_inputs import input_settings
from ppro.search.auto_trials import Choice
from ppro.search.schedule import schedule_of, told_schedule
from ppro.settings.controllers import OF_PAPERS_FORM
from ppro.settings.limits import SEARCH_SEED, SEEDS_OF_FIXED, SEEDS_OF_RANDOM
from ppro.settings.recipe import Recipe, recipe_toml
from ppro.settings.recipes import find_recipe, recipe_names, shipped_recipe
from ppro.settings.settings import PPRO, Settings

BLOCK_ROWS = 65_536
"""Rows of features in a file that are looked at at a time."""
AUTO = "auto"
"""The recipe that is found by a short search on the graph itself."""
PLAIN = "plain"
"""The recipe that is one setting for any graph."""
PLAIN_EPOCHS = 500
"""Epochs of a run of it, at most."""
OF_ANY_SEARCH = {"strategy", "metric", "class_weight", "direction", "seed"}
"""Settings that leave open what is trained."""


def choose_recipe(
    dataset: str,
    recipe: str | None,
    *,
    split: str | None,
    options: Mapping[str, Any],
    changes: Mapping[str, Any],
    own: Reading | None = None,
    comparing: bool = False,
) -> Recipe:
    """Return the recipe of a training: the named one, else the shipped one, else the defaults.

    Args:
        options: settings that have an option of their own; None where it was not given.
        changes: those of ``--set``.
        own: the user's own graph. No shipped recipe and no number of the paper is about it, even
            where it has the name of a graph of the catalogue.
        comparing: whether controllers compare where neither a recipe nor a setting says more.
    """
    splits = dataset_info(dataset).splits if own is None else own.splits
    wanted = given_settings(options, changes)
    if wanted.get("model", PPRO) != PPRO:
        _refuse_parts_of_ppro(wanted)
        wanted = {**wanted, "strategy": "none"}
    large = own is not None and isinstance(own.graph, LargeGraph)
    form = form_of_controllers(wanted) if comparing and not large else {}
    base = _base_recipe(dataset, wanted, recipe, own, form)
    if split is None:
        split = base.split if own is None and base.dataset == dataset else splits[0]
    if split not in splits and not is_drawn(split):
        raise SettingsError(f"{dataset} has no split {split!r}; it has {split_names(splits)}")
    shorter = schedule_of(wanted, base.settings.replace(**wanted))
    settings = base.settings.replace(**{**wanted, **shorter})
    changed = base.model_copy(update={"dataset": dataset, "split": split, "settings": settings})
    same = own is None and _paper_identity(changed) == _paper_identity(base)
    foreign = {} if same else {"paper": None}
    note = base.note if own is None and dataset == base.dataset else ""
    note = "; ".join(filter(None, (note, told_schedule({**form, **shorter}, settings))))
    # How settings were found is no longer true of others, or of another graph or split.
    found = base.found if own is None and changed == base else None
    return changed.model_copy(update={"note": note, "found": found, **foreign})


def given_settings(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the user gave, by an option of their own or by ``--set``."""
    given = {key: value for key, value in options.items() if value is not None}
    for key in given.keys() & changes.keys():
        if given[key] != changes[key]:
            raise SettingsError(
                f"--{key} {given[key]} and --set {key}={changes[key]} disagree; give one of them"
            )
    return {**given, **changes}


def form_of_controllers(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form of the controllers where no recipe says it: they compare, if they can.

    Setting something that only the paper's form has selects that form.

    Args:
        given: the settings that the user gave.
    """
    strategy = given.get("strategy", Settings().strategy)
    of_paper = {"teaching", "use_propagation", *OF_PAPERS_FORM} & given.keys()
    if strategy == "none" or of_paper or not STRATEGIES.get(strategy).compares():
        return {}
    return {"teaching": "compare", **schedule_of(given)}


def searches(
    dataset: str, recipe: str | None, given: Mapping[str, Any], own: Reading | None = None
) -> bool:
    """Tell whether settings are searched: where asked for, or where nothing says what they are.

    Args:
        given: the settings that the user gave; any but those of OF_ANY_SEARCH rule a search out.
    """
    if recipe is not None:
        return recipe == AUTO
    known = own is None and f"{dataset}-l2b" in recipe_names()
    return not known and not given.keys() - OF_ANY_SEARCH


def plain_recipe(recipe: Recipe, graph: Graph, given: Mapping[str, Any]) -> Recipe:
    """Return the recipe with the one setting that is safe on any graph, and what is given."""
    asked = recipe.settings.training
    measured = {"metric": asked.metric, "class_weight": asked.class_weight}
    form = form_of_controllers(given) if "strategy" in given else {}
    settings = plain_settings(graph).replace(**{**measured, **form, **given})
    return recipe.model_copy(update={"settings": settings})


def plain_settings(graph: Graph) -> Settings:
    """Return the settings that are safe on any graph, for features such as those of this one."""
    return PLAIN_CANDIDATE.settings({**input_settings(graph), "epochs": PLAIN_EPOCHS})


def check_searchable(recipe: Recipe) -> None:
    """Refuse to search settings of a rival.

    Raises:
        SettingsError: the recipe is of one.
    """
    if recipe.settings.model != PPRO:
        raise SettingsError("--recipe auto is for PPro; leave --model out, or name a recipe")


def search_recipe(
    recipe: Recipe, graph: Graph, splits: Splits, given: Mapping[str, Any], **options: Any
) -> tuple[Recipe, Choice, FinalPlan]:
    """Return the recipe with the settings that suit the graph best, how they were chosen, and more.

    Args:
        recipe: what is known before the search.
        given: settings that the user has fixed.
        options: as for :func:`ppro.search.auto_final.search_and_plan`.

    Returns:
        recipe, choice, and what there is time for in the training.
    """
    check_searchable(recipe)
    # What decides which candidate is better must hold in the search already.
    asked = recipe.settings.training
    fixed = {"metric": asked.metric, "class_weight": asked.class_weight, **given}
    choice, plan = search_and_plan(graph, splits, given.get("strategy"), fixed, **options)
    update = {"settings": choice.settings, "note": f"auto {choice.reason}"}
    return recipe.model_copy(update=update), choice, plan


def keep_recipe(recipe: Recipe, folder: Path) -> Path:
    """Write a recipe that a search found to a folder, under a name that is free."""
    names = (f"{as_name(recipe.dataset)}-auto{'' if i == 1 else f'-{i}'}.toml" for i in count(1))
    path = next(folder / name for name in names if not (folder / name).exists())
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        part.write_text(recipe_toml(recipe), encoding="utf-8")
    return path


def splits_of_search(
    graph: Graph,
    recipe: Recipe,
    own: Reading | None,
    seeds: int | None,
    *,
    data_root: Path | None,
    offline: bool,
) -> Splits:
    """Return the masks of a search: one split for each of its seeds.

    Args:
        own: what the files of a user's own graph hold; None for a graph of the catalogue.
        seeds: how many; None takes the usual number.
    """
    runs = seeds or (SEEDS_OF_RANDOM if is_drawn(recipe.split) else SEEDS_OF_FIXED)
    if own is not None:
        return file_splits(own, recipe.split, runs, SEARCH_SEED)
    where: dict[str, Any] = {"data_root": data_root, "offline": offline}
    return make_splits(graph, recipe.dataset, recipe.split, runs, SEARCH_SEED, **where)


def study_name(recipe: Recipe, space: str | None) -> str:
    """Return the name of a search where the user gives none: graph, method and space."""
    settings = recipe.settings
    if settings.model != PPRO:
        method = [settings.model]
    else:
        method = [settings.strategy, *([] if settings.backbone == "appnp" else [settings.backbone])]
    return "-".join([as_name(recipe.dataset), *method, *([space] if space else [])])


def _refuse_parts_of_ppro(wanted: Mapping[str, Any]) -> None:
    """Refuse a strategy or a backbone for a rival, which has neither."""
    for key, of_rivals in (("strategy", "none"), ("backbone", None)):
        if wanted.get(key, of_rivals) != of_rivals:
            raise SettingsError(f"model {wanted['model']} takes no {key}; leave one of them out")


def _base_recipe(
    dataset: str,
    wanted: Mapping[str, Any],
    recipe: str | None,
    own: Reading | None,
    form: Mapping[str, Any],
) -> Recipe:
    split = default_split(dataset) if own is None else own.splits[0]
    if recipe in (AUTO, PLAIN):
        return Recipe(dataset=dataset, split=split, settings=_usual(dataset, own))
    if recipe is not None:
        return find_recipe(recipe)
    strategy, model = wanted.get("strategy"), wanted.get("model", PPRO)
    if strategy is not None:
        STRATEGIES.check(strategy)
    if own is not None:
        settings = Settings(feature_norm=norm_of(own.graph)).replace(**form)
        return Recipe(dataset=dataset, split=split, settings=settings)
    if model != PPRO:
        return Recipe(dataset=dataset, split=split, settings=_of_rival(dataset, model))
    name = f"{dataset}-{strategy or 'l2b'}"
    if name in recipe_names():
        return shipped_recipe(name)
    return Recipe(dataset=dataset, split=split, settings=_usual(dataset, own).replace(**form))


def _usual(dataset: str, own: Reading | None = None) -> Settings:
    """Return the defaults, with the metric that results on a graph are usually measured by."""
    return Settings() if own is not None else Settings(metric=dataset_info(dataset).metric)


def _of_rival(dataset: str, model: str) -> Settings:
    """Return the first configuration of a rival's space: its paper's, where that is known."""
    space = RIVALS.get(model).spaces.get(kind_of(dataset))
    first = {} if space is None else space.draw(1)[0]
    return _usual(dataset).replace(model=model, **first)


def has_negative(features: Tensor) -> bool:
    """Tell whether some feature is below zero: such are no counts."""
    values = features.values() if features.layout == torch.sparse_csr else features
    return values.numel() > 0 and float(values.min()) < 0


def norm_of(graph: Graph) -> FeatureNorm:
    """Return the norm that fits the features: rows that sum to one for counts, else none.

    Features in a file are looked at block by block.
    """
    if not isinstance(graph, LargeGraph):
        return fitting_norm(graph.features)
    blocks = row_blocks(graph.num_nodes, BLOCK_ROWS)
    return "none" if any(has_negative(graph.rows.read(rows)) for rows in blocks) else "row"


def fitting_norm(features: Tensor) -> FeatureNorm:
    """Return the norm for features in memory; counts have no negative values."""
    return "none" if has_negative(features) else "row"


def _paper_identity(recipe: Recipe) -> tuple[str, ...]:
    """Return what the paper's number belongs to."""
    settings = recipe.settings
    return recipe.dataset, recipe.split, settings.model, settings.strategy, settings.backbone
