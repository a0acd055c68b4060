"""The recipes that compete when a user wants no tuning, each for another kind of graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ppro.settings.settings import Settings

_CHOOSY = {"l2b": {"epsilon": 0.9}, "l2u": {"epsilon": 0.1}}
_EAGER = {
    "l2b": {"epsilon": 0.3, "propagation_bias": 0.0, "lr_controller": 0.01, "lambda1": 0.1},
    "l2u": {"epsilon": 0.5, "propagation_bias": 0.0, "lr_controller": 0.01, "lambda1": 0.1},
}
_RAW = {"feature_norm": "none", "decay": "all", "patience": 200}
_USUAL = {"dropout": (0.5, 0.2), "weight_decay": (5e-4, 5e-3, 1.5e-2), "lr": (0.01, 0.05)}
"""What a variation may set one of these to."""


@dataclass(frozen=True)
class Candidate:
    """Settings worth trying, and when they suit.

    Args:
        why: the kind of graph that they suit.
        changes: settings that differ from the defaults.
        by_strategy: further ones for each strategy.
        for_gpu: whether a CPU is too slow for them.
    """

    name: str
    why: str
    changes: Mapping[str, Any]
    by_strategy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    for_gpu: bool = False

    def settings(self, strategy: str) -> Settings:
        """The settings of this candidate under a strategy."""
        return Settings(
            **{"strategy": strategy, **self.changes, **self.by_strategy.get(strategy, {})}
        )

    def variations(self) -> list[Candidate]:
        """The same with one of its training settings changed, each to a usual value."""
        own = self.settings("none").flat()
        return [
            replace(
                self, name=f"{self.name}, {key} {value:g}", changes={**self.changes, key: value}
            )
            for key, values in _USUAL.items()
            for value in values
            if value != own[key]
        ]


SMOOTH = {"max_steps": 10, "patience": 200}
CANDIDATES = (
    Candidate("smooth", "neighbours are alike", {**SMOOTH, "dropout": 0.8}, _CHOOSY),
    Candidate(
        "agree",
        "neighbours are alike and few nodes have labels",
        {
            **SMOOTH,
            **{"consistency": 1.0, "consistency_temperature": 0.5, "node_dropout": 0.5},
            **{"dropout": 0.2, "weight_decay": 1e-3},
        },
        _CHOOSY,
    ),
    Candidate(
        "agree on features",
        "neighbours are alike, few nodes have labels, and features are dense",
        {
            **{"backbone": "grand", "max_steps": 10, "hidden": 32, "decay": "all"},
            **{"consistency": 1.0, "consistency_temperature": 0.2, "consistency_forwards": 4},
            **{"node_dropout": 0.5, "dropout": 0.7, "lr": 0.4},
        },
        _CHOOSY,
        for_gpu=True,
    ),
    Candidate(
        "scores",
        "neighbours are alike and features are few",
        {**SMOOTH, "form": "class", "dropout": 0.5, "weight_decay": 5e-3},
        _CHOOSY,
    ),
    Candidate(
        "own first",
        "a node's own features say more than its neighbours",
        {
            **_RAW,
            **{"concat": True, "alpha": 0.0, "max_steps": 5, "weight_form": "tanh"},
            **{"weight_decay": 5e-3, "dropout": 0.2},
        },
        _EAGER,
    ),
    Candidate(
        "own apart",
        "a node is unlike its neighbours, and both say something",
        {
            **_RAW,
            **{"concat": True, "self_loops": False, "alpha": 0.0, "max_steps": 2},
            **{"weight_form": "tanh", "weight_decay": 5e-3, "dropout": 0.2, "lr": 0.05},
        },
        _EAGER,
    ),
    Candidate(
        "others only",
        "who the neighbours are says more than what they are like",
        {
            **_RAW,
            **{"form": "features", "self_loops": False, "alpha": 0.0, "max_steps": 5},
            **{"weight_decay": 1e-5, "dropout": 0.2, "lr": 0.05},
        },
        _EAGER,
    ),
    Candidate(
        "features",
        "neighbours say little",
        {
            **_RAW,
            **{"form": "class", "alpha": 0.9, "max_steps": 2},
            **{"weight_decay": 1e-3, "dropout": 0.2, "lr": 0.05},
        },
        {**_EAGER, "l2b": {"epsilon": 0.3}},
    ),
)
