"""Which recipe a training takes: the named one, the shipped one, or what suits the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.data import dataset_info, default_split
from ppro.data.files import Reading
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.paper.methods import METHODS, kind_of
from ppro.parts import STRATEGIES
from ppro.parts.choices import FeatureNorm
from ppro.search.auto import has_negative
from ppro.settings.recipe import Recipe
from ppro.settings.recipes import find_recipe, recipe_names, shipped_recipe
from ppro.settings.settings import Settings

BLOCK_ROWS = 65_536
"""Rows of features in a file that are looked at at a time."""
AUTO = "auto"
"""The recipe that is found by a short search on the graph itself."""


def choose_recipe(
    dataset: str,
    recipe: str | None,
    *,
    split: str | None,
    options: Mapping[str, Any],
    changes: Mapping[str, Any],
    own: Reading | None = None,
) -> Recipe:
    """The recipe of a training: the named one, else the shipped one, else the defaults.

    Args:
        options: settings that have an option of their own; None where it was not given.
        changes: those of ``--set``.
        own: the user's own graph. No shipped recipe and no number of the paper is about it, even
            where it has the name of a graph of the catalogue.
    """
    splits = dataset_info(dataset).splits if own is None else own.splits
    wanted = given_settings(options, changes)
    if wanted.get("model", "ppro") != "ppro":
        _refuse_parts_of_ppro(wanted)
        wanted = {**wanted, "strategy": "none"}
    base = _base_recipe(dataset, wanted, recipe, own)
    if split is None:
        split = base.split if own is None and base.dataset == dataset else splits[0]
    if split not in splits:
        raise SettingsError(f"{dataset} has no split {split!r}; it has {', '.join(splits)}")
    settings = base.settings.replace(**wanted)
    changed = base.model_copy(update={"dataset": dataset, "split": split, "settings": settings})
    same = own is None and _paper_identity(changed) == _paper_identity(base)
    foreign = {} if same else {"paper": None}
    note = base.note if own is None and dataset == base.dataset else ""
    # How settings were found is no longer true of others, or of another graph or split.
    found = base.found if own is None and changed == base else None
    return changed.model_copy(update={"note": note, "found": found, **foreign})


def given_settings(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the user gave, by an option of their own or by ``--set``."""
    given = {key: value for key, value in options.items() if value is not None}
    for key in given.keys() & changes.keys():
        if given[key] != changes[key]:
            raise SettingsError(
                f"--{key} {given[key]} and --set {key}={changes[key]} disagree; give one of them"
            )
    return {**given, **changes}


def _refuse_parts_of_ppro(wanted: Mapping[str, Any]) -> None:
    """A rival has no strategy and no backbone to choose."""
    for key, of_rivals in (("strategy", "none"), ("backbone", None)):
        if wanted.get(key, of_rivals) != of_rivals:
            raise SettingsError(f"model {wanted['model']} takes no {key}; leave one of them out")


def _base_recipe(
    dataset: str, wanted: Mapping[str, Any], recipe: str | None, own: Reading | None
) -> Recipe:
    if recipe == AUTO:
        return Recipe(dataset=dataset, split=_first_split(dataset, own), settings=Settings())
    if recipe is not None:
        return find_recipe(recipe)
    strategy, model = wanted.get("strategy"), wanted.get("model", "ppro")
    if model in METHODS and own is None:
        return _of_rival(dataset, model)
    if strategy is not None:
        STRATEGIES.check(strategy)
    if own is not None:
        norm = norm_of(own.graph)
        return Recipe(dataset=dataset, split=own.splits[0], settings=Settings(feature_norm=norm))
    name = f"{dataset}-{strategy or 'l2b'}"
    if name in recipe_names():
        return shipped_recipe(name)
    return Recipe(dataset=dataset, split=default_split(dataset), settings=Settings())


def _first_split(dataset: str, own: Reading | None) -> str:
    return default_split(dataset) if own is None else own.splits[0]


def _of_rival(dataset: str, model: str) -> Recipe:
    """The first configuration of a rival's space: what its paper used, where that is known."""
    method = METHODS[model]
    first = method.space(kind_of(dataset)).draw(1)[0]
    settings = Settings(**{**method.settings, **first})
    return Recipe(dataset=dataset, split=default_split(dataset), settings=settings)


def norm_of(graph: Graph) -> FeatureNorm:
    """The norm that fits the features of a graph; those in a file are looked at block by block."""
    if not isinstance(graph, LargeGraph):
        return fitting_norm(graph.features)
    blocks = row_blocks(graph.num_nodes, BLOCK_ROWS)
    return "none" if any(has_negative(graph.rows.read(rows)) for rows in blocks) else "row"


def fitting_norm(features: Tensor) -> FeatureNorm:
    """Rows that sum to one suit counts; features with negative values stay as they are."""
    return "none" if has_negative(features) else "row"


def _paper_identity(recipe: Recipe) -> tuple[str, ...]:
    """What the paper's number belongs to."""
    settings = recipe.settings
    return recipe.dataset, recipe.split, settings.model, settings.strategy, settings.backbone
