"""The parameters of the estimator, and the settings of each run that follow from them."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ppro.data.splits import Given, Splits, complete_masks
from ppro.errors import SettingsError
from ppro.graph.convert import MASKS, as_mask
from ppro.graph.core import Graph
from ppro.search.choice import AUTO, OF_ANY_SEARCH, PLAIN, form_of_controllers, plain_settings
from ppro.settings.limits import BUDGET, MOST_RUNS
from ppro.settings.recipes import find_recipe
from ppro.settings.settings import Settings, parse_settings
from ppro.training.assembly import OwnBackbone
from ppro.training.class_weights import ClassWeight

SETTINGS = (
    *("strategy", "teaching", "judges", "max_steps", "epsilon", "hidden", "dropout"),
    "feature_norm",
    *("lr", "weight_decay", "epochs", "patience", "metric"),
)
"""The parameters of the estimator that are settings of the same name."""


class EstimatorParameters(BaseEstimator):  # type: ignore[misc]
    """What :class:`ppro.PProClassifier` is made with; checked when it is fitted."""

    def __init__(  # noqa: PLR0913 - one argument per parameter, as scikit-learn wants it
        self,
        backbone: str | OwnBackbone | None = None,
        *,
        strategy: str | None = None,
        teaching: str | None = None,
        judges: str | None = None,
        max_steps: int | None = None,
        epsilon: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        feature_norm: str | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        metric: str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        validation_share: float = 0.2,
        n_runs: int = 1,
        random_state: int | np.random.RandomState | None = None,
        device: str | torch.device = "auto",
        threads: int | None = None,
        settings: Mapping[str, Any] | Settings | None = None,
        recipe: str | None = None,
        budget: float = BUDGET,
    ) -> None:
        self.backbone = backbone
        self.strategy = strategy
        self.teaching = teaching
        self.judges = judges
        self.max_steps = max_steps
        self.epsilon = epsilon
        self.hidden = hidden
        self.dropout = dropout
        self.feature_norm = feature_norm
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.metric = metric
        self.class_weight = class_weight
        self.validation_share = validation_share
        self.n_runs = n_runs
        self.random_state = random_state
        self.device = device
        self.threads = threads
        self.settings = settings
        self.recipe = recipe
        self.budget = budget

    @property
    def _searches(self) -> bool:
        """Whether settings are searched: where asked for, or where nothing says what they are."""
        if self.recipe is not None:
            return self.recipe == AUTO
        return self.backbone is None and not self._chosen().keys() - OF_ANY_SEARCH

    def _given(self) -> dict[str, Any]:
        """Return the settings that the parameters give, the seed too; a generator moves on."""
        seed = {} if self.random_state is None else {"seed": _seed(self.random_state)}
        return {**self._chosen(), **seed}

    def _chosen(self) -> dict[str, Any]:
        given = {key: value for key in SETTINGS if (value := getattr(self, key)) is not None}
        if isinstance(self.backbone, str):
            given["backbone"] = self.backbone
        if isinstance(self.settings, Settings):
            return {**self.settings.flat(), **given}
        if not isinstance(self.settings, Mapping | None):
            raise SettingsError(
                f"settings {self.settings!r}: give a dict from names to values, or a ppro.Settings"
            )
        return {**(self.settings or {}), **given}

    def _settings(self, given: Mapping[str, Any], graph: Graph) -> list[Settings]:
        """Return the settings of every run, as far as they are known before a search.

        Args:
            given: what the parameters give.
            graph: the recipe "plain" brings its features to one scale.
        """
        if self.recipe == AUTO and self._own_backbone() is not None:
            raise SettingsError(
                "recipe auto tries networks that have a name, and a backbone of your own has none; "
                "leave the recipe out, or the backbone"
            )
        if self.recipe == PLAIN:
            first = plain_settings(graph).replace(**given)
        elif self.recipe not in (None, AUTO):
            first = find_recipe(str(self.recipe)).settings.replace(**given)
        elif isinstance(self.settings, Settings):
            first = self.settings.replace(**given)
        else:
            first = parse_settings({**form_of_controllers(given), **given}, "settings")
        if not isinstance(self.n_runs, int | np.integer) or not 1 <= self.n_runs <= MOST_RUNS:
            raise SettingsError(
                f"n_runs {self.n_runs}: give a whole number from 1, at most {MOST_RUNS}"
            )
        return [first.replace(seed=first.seed + run) for run in range(self.n_runs)]

    def _splits(
        self, graph: Graph, brought: Mapping[str, Any], own: Mapping[str, Any], seed: int, runs: int
    ) -> Splits:
        if not _is_number(self.validation_share) or not 0 < self.validation_share < 1:
            raise SettingsError(
                f"validation_share {self.validation_share}: give a share between 0 and 1"
            )
        masks = {
            key: brought.get(key) if mask is None else as_mask(mask, graph.num_nodes, key)
            for key, mask in own.items()
        }
        given = Given(*(masks[key] for key in MASKS))
        share = float(self.validation_share)
        return complete_masks(graph.labels, given, runs=runs, seed=seed, share=share)

    def _own_backbone(self) -> OwnBackbone | None:
        return None if isinstance(self.backbone, str) else self.backbone

    def _backbone_in_words(self) -> str | None:
        """Return how the user writes a backbone of their own; None for one with a name."""
        own = self._own_backbone()
        if isinstance(own, type):
            return own.__qualname__
        return None if own is None else " ".join(repr(own).split())

    def _class_weight(self, classes: NDArray[Any]) -> ClassWeight | None:
        if self.class_weight is None or self.class_weight == "balanced":
            return self.class_weight  # type: ignore[return-value]
        if not isinstance(self.class_weight, Mapping):
            raise SettingsError(f"class_weight {self.class_weight!r}: use 'balanced' or a dict")
        unknown = [key for key in self.class_weight if key not in classes.tolist()]
        if unknown:
            known = ", ".join(map(str, classes))
            raise SettingsError(f"class_weight: no class {unknown[0]!r}; the classes are {known}")
        weights = [self.class_weight.get(value, 1.0) for value in classes.tolist()]
        for weight in weights:
            if not _is_number(weight):
                raise SettingsError(f"class_weight: {weight!r} is no number; give a positive one")
        return [float(weight) for weight in weights]

    def _budget(self) -> float:
        """Return the seconds of a search and the training after it."""
        if not _is_number(self.budget) or not math.isfinite(self.budget):
            raise SettingsError(f"budget {self.budget!r}: give some seconds, such as {BUDGET:g}")
        return float(self.budget)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _seed(state: int | np.random.RandomState) -> int:
    if isinstance(state, int | np.integer):
        return int(state)
    return int(check_random_state(state).randint(2**31 - 1))
