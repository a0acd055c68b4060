"""Proposals for a batch: different from each other and from all before, of one program."""

import itertools
import json
import random
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

from ppro.search.tuning.spaces import SHAPE, SearchSpace

ATTEMPTS = 8
"""Proposals that may be ones already tried, before any untried configuration is taken."""
STARTUP = 10
"""Configurations drawn at random before the others are drawn from what these have shown."""
LISTED = 100_000
"""Spaces of at most as many configurations are listed to find one that is untried."""


def key_of(params: Mapping[str, Any]) -> str:
    """Return a text that is equal for equal configurations."""
    return json.dumps(dict(params), sort_keys=True)


class BatchSampler(BaseSampler):
    """TPE with a constant liar; trials whose result is not known yet push the next ones away.

    Args:
        tried: keys and shapes of configurations that need no second training; the caller adds.
        seed: of the random numbers; other for each batch.
    """

    def __init__(self, space: SearchSpace, tried: dict[str, str], seed: int) -> None:
        self.space, self.tried = space, tried
        self.shape: str | None = None
        self._random = RandomSampler(seed)
        self._order = random.Random(seed)
        with warnings.catch_warnings():
            # Joint sampling and the constant liar are marked as experimental in some versions.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            self._tpe = TPESampler(
                n_startup_trials=STARTUP, multivariate=True, constant_liar=True, seed=seed
            )

    def untried_of_shape(self) -> int:
        """Return how many new configurations of the batch's shape there are."""
        if self.space.size_of_shape is None:
            return sys.maxsize
        return self.space.size_of_shape - sum(s == self.shape for s in self.tried.values())

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return all choices together: they are known from the beginning."""
        return {k: d for k, d in self.space.distributions.items() if not d.single()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return a configuration that was not tried, of the shape that the batch has begun with."""
        fixed = {} if self.shape is None else {SHAPE: self.shape}
        open_choices = {k: d for k, d in search_space.items() if k not in fixed}
        for _ in range(ATTEMPTS):
            found = {**self._proposed(study, trial, open_choices), **fixed}
            if key_of(self._complete(found)) not in self.tried:
                return found
        return self._untried(search_space, fixed) or found

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """What :meth:`sample_relative` did not propose: nothing, unless the space has changed."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def _proposed(
        self, study: optuna.Study, trial: FrozenTrial, choices: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        found = self._tpe.sample_relative(study, trial, choices)
        return found or {
            key: self._random.sample_independent(study, trial, key, distribution)
            for key, distribution in choices.items()
        }

    def _complete(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Add the choices that have a single value."""
        single = {
            key: d.choices[0]
            for key, d in self.space.distributions.items()
            if isinstance(d, CategoricalDistribution) and d.single()
        }
        return {**single, **found}

    def _untried(
        self, search_space: Mapping[str, BaseDistribution], fixed: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        if self.space.size is None or self.space.size > LISTED:
            return None
        listed = list(_all(search_space, fixed))
        self._order.shuffle(listed)
        untried = (c for c in listed if key_of(self._complete(c)) not in self.tried)
        return next(untried, None)


def _all(
    search_space: Mapping[str, BaseDistribution], fixed: Mapping[str, Any]
) -> Iterable[dict[str, Any]]:
    choices = [
        (fixed[key],) if key in fixed else d.choices
        for key, d in search_space.items()
        if isinstance(d, CategoricalDistribution)
    ]
    for combination in itertools.product(*choices):
        yield dict(zip(search_space, combination, strict=True))
