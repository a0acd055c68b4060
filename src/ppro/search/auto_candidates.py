"""The settings that compete when a user wants no tuning, each for another kind of graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ppro.settings.settings import Settings, without_foreign

DROPOUTS, DECAYS = (0.2, 0.5, 0.8), (5e-5, 5e-4, 5e-3, 1.5e-2)
"""What a variation may set these to."""
STEPS, LAYERS = 8, 4
"""L of the controllers, which choose how many of them a node takes; of those that are layers."""
_TAUGHT = {"teaching": "compare", "warm_up": 30, "settle": 60}
LEARNING = 120
"""Epochs that controllers need until their choices are settled."""
_DEPTH = re.compile(r"(^|, )\d+ steps?(?=,|$)")
_SHARED = {"decay": "all", "strategy": "none"}
_BESIDE = {"concat": True, "alpha": 0.1}
_STRONG = {"dropout": 0.8, "weight_decay": 5e-3}
"""What keeps a network from learning a few nodes by heart."""
_APART = {"concat": True, "alpha": 0.0, "self_loops": False}
_LARGE = {"first_layer": "scaled", "feature_dropout": 0.0}
"""Weights of a size that suits rows of length one, of which nothing is dropped."""
_LAYERED = {"backbone": "res-gcn", "lr": 0.01}
_DEEP = {"backbone": "res-sage", "norm": "batch", "lr": 0.01, "dropout": 0.2, "weight_decay": 5e-5}
"""Many layers together drop and shrink much even where each does little."""


@dataclass(frozen=True)
class Candidate:
    """Settings worth trying.

    Args:
        name: what a user reads.
        why: the kind of graph that they suit.
        changes: settings that differ from the defaults.
        simplicity: the smaller, the simpler; decides between equals.
        cost: of an epoch, in those of one step of propagation; what is measured replaces it.
        few_labels: whether it needs nodes without labels to learn from.
        many_labels: whether it needs more labels than a few to learn from.
        kind: the name of what it varies in numbers alone.
        scale: settings of the features in place of those that suit most networks.
    """

    name: str
    why: str
    changes: Mapping[str, Any]
    simplicity: int = 2
    cost: float = 1.0
    few_labels: bool = False
    many_labels: bool = False
    kind: str = ""
    scale: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A candidate is of its own kind unless it varies another."""
        object.__setattr__(self, "kind", self.kind or self.name)

    def settings(self, given: Mapping[str, Any]) -> Settings:
        """Return the settings of this candidate with those that are given, where it has them."""
        own = {**_SHARED, **self.changes}
        more = without_foreign(given, {**own, **given})
        return Settings.read({**own, **more, **self.scale})

    def agrees_with(self, fixed: Mapping[str, Any]) -> bool:
        """Tell whether a user who fixed these settings leaves it a scale of its own."""
        return not self.scale or not fixed.keys() & {*self.scale, "backbone", "first_layer"}

    @property
    def strategy(self) -> str:
        """Return how nodes choose their step."""
        return str(self.changes.get("strategy", "none"))

    @property
    def family(self) -> str:
        """Return what the network is like: networks of one family do well on the same graphs."""
        backbone = str(self.changes.get("backbone", "appnp"))
        if backbone.startswith("res-"):
            return "layers"
        if self.changes.get("max_steps") == 0:
            return "features alone"
        return "own features beside" if self.changes.get("concat") else backbone

    def variations(self, given: Mapping[str, Any]) -> list[Candidate]:
        """Return the same with another dropout and weight decay, those next to its own first."""
        own = self.settings(given).training
        pairs = [
            (dropout, decay)
            for dropout in DROPOUTS
            for decay in DECAYS
            if (dropout, decay) != (own.dropout, own.weight_decay)
        ]
        pairs.sort(key=lambda pair: (pair[0] != own.dropout) + (pair[1] != own.weight_decay))
        return [self._with(dropout, decay) for dropout, decay in pairs]

    def _with(self, dropout: float, decay: float) -> Candidate:
        name = f"{self.name}, dropout {dropout:g}, weight decay {decay:g}"
        changes = {**self.changes, "dropout": dropout, "weight_decay": decay}
        return replace(self, name=name, changes=changes)

    def _network(self) -> str:
        """Return the name without its depth, which controllers choose."""
        name = _DEPTH.sub("", self.name.replace("no propagation", "hidden vectors")).strip(", ")
        beside = "hidden vectors beside own ones"
        return f"{beside}, {name}" if name.startswith("dropout") else name or beside

    def controlled(self, strategies: Sequence[str] = ("l2b", "l2u")) -> list[Candidate]:
        """Return the same backbone under controllers that learn which step suits a node."""
        taught = {**self.changes, **_TAUGHT, "max_steps": self.most_steps}
        return [
            replace(
                self,
                name=f"{strategy.upper()} on {self._network()}",
                kind="",
                why="nodes need steps of their own",
                changes={**taught, "strategy": strategy},
                simplicity=4,
            )
            for strategy in strategies
        ]

    @property
    def most_steps(self) -> int:
        """Return L under controllers: steps that are layers cost more, and fewer are enough."""
        if self.changes.get("backbone", "appnp") == "appnp":
            return STEPS
        return max(LAYERS, int(self.changes["max_steps"]))


PLAIN = Candidate(
    "residual SAGE",
    "neighbours and the node itself both say something",
    {"backbone": "res-sage", "max_steps": 1, "linear_first": False, "lr": 0.01},
    simplicity=3,
    cost=1.4,
)
"""What is trained where there is no time to try anything."""
CANDIDATES = (
    PLAIN,
    Candidate(
        "residual SAGE, 4 layers",
        "who stands where among the neighbours matters, and labels are many",
        {**_DEEP, "max_steps": 4},
        simplicity=3,
        cost=2.6,
        many_labels=True,
    ),
    Candidate("1 step", "the nearest neighbours matter", {**_BESIDE, "max_steps": 1}, 1),
    Candidate(
        "few labels, 8 steps",
        "neighbours are alike and few nodes have labels",
        {"max_steps": 8, **_STRONG},
        cost=2.2,
        few_labels=True,
    ),
    Candidate(
        "agreement, 8 steps",
        "neighbours are alike and few nodes have labels",
        {
            **{"max_steps": 8, "consistency": 1.0, "consistency_temperature": 0.5},
            **{"node_dropout": 0.5, "dropout": 0.2, "weight_decay": 1e-3},
        },
        simplicity=3,
        cost=4.0,
        few_labels=True,
    ),
    Candidate(
        "few labels, class scores",
        "neighbours are alike, features are few and few nodes have labels",
        {"form": "class", "max_steps": 8, **_STRONG},
        few_labels=True,
    ),
    Candidate("no propagation", "neighbours say nothing", {"max_steps": 0}, 0, 0.7),
    Candidate("GCN", "neighbours are alike", {"backbone": "gcn-scores", "max_steps": 1}, 2, 0.9),
    Candidate(
        "neighbours apart, strong decay",
        "a node is unlike its neighbours, and features are many",
        {**_APART, "max_steps": 1, "weight_decay": DECAYS[-1], "lr": 0.03},
    ),
    Candidate(
        "neighbours apart, large first layer",
        "a node is unlike its neighbours, and its features say little each",
        {**_APART, "max_steps": 2, "lr": 0.05, "dropout": 0.7, **_LARGE},
        scale={"feature_norm": "unit", "feature_length": 1.0},
    ),
    Candidate(
        "normalised GCN",
        "neighbours are alike, and labels are many",
        {**_LAYERED, "max_steps": 1, "linear_first": False, "residual": False},
        cost=1.3,
    ),
    Candidate(
        "class scores, 8 steps",
        "neighbours are alike, far ones too",
        {"form": "class", "max_steps": 8},
        cost=1.0,
    ),
    Candidate(
        "APPNP, 8 steps",
        "neighbours are alike, and features are many",
        {"max_steps": 8, "alpha": 0.2, "weight_decay": 5e-3},
        cost=2.2,
    ),
    Candidate(
        "residual GCN",
        "neighbours say much, their number too",
        {**_LAYERED, "max_steps": 2},
        simplicity=3,
        cost=1.5,
    ),
    Candidate(
        "neighbours' features",
        "who the neighbours are says more than what they are like",
        {"form": "features", "self_loops": False, "alpha": 0.0, "max_steps": 2, "lr": 0.03},
        cost=1.2,
    ),
    Candidate(
        "neighbours apart, 2 steps",
        "a node is unlike its neighbours, and both say something",
        {**_APART, "max_steps": 2},
        cost=1.3,
    ),
    Candidate("4 steps", "neighbours of neighbours matter", {**_BESIDE, "max_steps": 4}, cost=1.6),
    Candidate("2 steps", "neighbours of neighbours matter", {**_BESIDE, "max_steps": 2}, cost=1.2),
    Candidate(
        "deep residual SAGE",
        "what matters lies deep in the graph",
        {**_DEEP, "max_steps": 8},
        simplicity=3,
        cost=6.0,
    ),
    Candidate("8 steps", "far nodes matter", {**_BESIDE, "max_steps": 8}, cost=2.4),
)
"""The most important first: where time is short, the last are left out."""


def distinct(candidates: Iterable[Candidate], given: Mapping[str, Any]) -> list[Candidate]:
    """Return the candidates whose settings differ from those of all before them."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        found.setdefault(repr(candidate.settings(given).flat()), candidate)
    return list(found.values())
