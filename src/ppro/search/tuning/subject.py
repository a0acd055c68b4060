"""What a search is about: a graph, its splits, and the settings that stay as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ppro.data import kind_of
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.parts.choices import Kind
from ppro.search.grid import PAPER
from ppro.search.methods import method_of
from ppro.search.tuning.spaces import SearchSpace, named_space
from ppro.settings.recipe import Recipe
from ppro.settings.settings import Settings, parse_settings
from ppro.training.fingerprint import fingerprint


@dataclass(frozen=True, eq=False)
class Subject:
    """A graph and what is to be found for it.

    Args:
        splits: one row for each seed of the search.
        recipe: what a training without a search would take.
        fixed: settings that the user has fixed.
        own: whether the graph is the user's own.
    """

    graph: Graph
    splits: Splits
    recipe: Recipe
    fixed: Mapping[str, Any]
    own: bool = False

    def space_name(self, wanted: str | None) -> str:
        """Return the space that the user named, else the one for this kind of graph."""
        if wanted is not None:
            return wanted
        return kind_of_graph(self.graph, self.splits) if self.own else kind_of(self.recipe.dataset)

    def space(self, name: str) -> SearchSpace:
        """Return the space of that name for this method."""
        return named_space(name, self.recipe.settings, self.fixed)

    def base(self, space: str) -> Settings:
        """Return the settings that a search begins from.

        The paper's grid leaves form and depth to the recipe; the spaces of the methods state them,
        from the defaults on.
        """
        settings = self.recipe.settings
        if space == PAPER:
            return settings.replace(seed=0)
        asked = settings.training
        start: dict[str, Any] = {"metric": asked.metric, "class_weight": asked.class_weight}
        if self.own:
            start["feature_norm"] = settings.inputs.feature_norm
        changes = {**start, **method_of(settings).settings, **self.fixed, "seed": 0}
        return parse_settings(changes, "--set")

    def identity(self, name: str, space: SearchSpace) -> dict[str, Any]:
        """Return what must be the same for a study to be gone on with."""
        base = self.base(name)
        known = fingerprint(self.graph, self.splits, [base], None, None)
        choices = {key: repr(distribution) for key, distribution in space.distributions.items()}
        return {
            "space": name,
            "method": base.model if base.model != "ppro" else f"{base.strategy}, {base.backbone}",
            "graph": known["graph"],
            "split": f"{self.splits.name} {known['splits']}",
            "number of seeds": self.splits.runs,
            "fixed setting": flat_json(base),
            "set of choices": {"shapes": dict(space.shapes), "values": choices},
        }


def flat_json(settings: Settings) -> dict[str, Any]:
    """Return all settings as JSON gives them back."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in settings.flat().items()}


def read_identity(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved identity of a study; version 0.1 saved the settings of every network."""
    return {**saved, "fixed setting": flat_json(Settings.read(saved["fixed setting"]))}


def kind_of_graph(graph: Graph, splits: Splits) -> Kind:
    """Whether neighbours mostly agree, as far as training and validation labels of run 0 show."""
    known = splits.train[0] | splits.val[0]
    source, target = graph.edge_index
    seen = known[source] & known[target]
    same = graph.labels[source[seen]] == graph.labels[target[seen]]
    share = float(same.to(torch.float32).mean()) if len(same) else 1.0
    return "homophilous" if share >= 0.5 else "heterophilous"
