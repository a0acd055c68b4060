from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from ppro.search.auto_candidates import CANDIDATES, PLAIN, Candidate
from ppro.search.auto_picking import (
    best_of,
    going_on,
    near_best,
    of_each_kind,
    price_of_controllers,
    promising,
)
from ppro.search.auto_trials import Trial


@dataclass
class Runner:
    """A racer whose curve is known: what it has reached after each epoch."""

    name: str
    curve: tuple[float, ...]
    trouble: str = ""
    epoch_seconds: float = 1.0
    candidates: tuple[Candidate, ...] = (PLAIN,)

    @property
    def epochs(self) -> int:
        return len(self.curve)

    def trials(self, epochs: int) -> list[Trial]:
        best = max(self.curve[:epochs])
        return [Trial(replace(PLAIN, name=self.name), (best,), 1.0, self.trouble, epochs=epochs)]


FAST = Runner("fast", (80.0, 84.0, 85.0, 85.0))
FLAT = Runner("flat", (70.0, 70.0, 70.0, 70.0))
LEVEL = Runner("level", (75.0, 76.0, 76.0, 76.0))
SLOW = Runner("slow", (30.0, 40.0, 55.0, 68.0))
ILL = Runner("ill", (99.0, 99.0, 99.0, 99.0), "not enough memory")


def names(racers: Any) -> list[str]:
    return [racer.name for racer in racers]


def test_who_learns_slowly_may_go_on() -> None:
    racers: Any = [FLAT, SLOW, ILL, FAST, LEVEL]
    assert names(best_of(racers, 5)) == ["fast", "level", "flat", "slow"]
    assert names(promising(racers)) == ["slow", "fast", "level", "flat"]
    assert names(going_on(racers, 3)) == ["fast", "level", "slow"]
    assert names(going_on(racers, 9)) == ["fast", "level", "flat", "slow"]
    assert names(near_best([FAST, LEVEL])) == ["fast"]  # type: ignore[list-item]
    close: Any = Runner("close", (83.0, 83.0, 83.0, 83.0))
    assert names(near_best([FAST, close])) == ["fast", "close"]  # type: ignore[list-item]
    assert promising([]) == going_on([], 3) == []


def test_families_that_are_near_the_best_go_on_beside_it() -> None:
    """Where 30 epochs tell little, variants of one network do not take all places."""
    of_name = {candidate.name: candidate for candidate in CANDIDATES}

    def runner(name: str, score: float) -> Any:
        return Runner(name, (score, score), candidates=(of_name[name],))

    close = [
        *(runner("1 step", 45.8), runner("2 steps", 45.7), runner("4 steps", 45.6)),
        *(runner("GCN", 45.4), runner("residual SAGE", 45.3)),
    ]
    assert names(going_on(close, 4))[:3] == ["1 step", "GCN", "residual SAGE"]
    apart = [runner("1 step", 80.0), runner("2 steps", 79.0), runner("residual SAGE", 60.0)]
    assert names(going_on(apart, 3)) == ["1 step", "2 steps", "residual SAGE"]
    assert names(going_on(apart, 2)) == ["1 step", "2 steps"]


def test_own_features_beside_are_a_family_of_their_own() -> None:
    # On Pubmed after 30 epochs: the one that wins later is a little behind APPNP.
    reached = {"APPNP, 8 steps": 89.0, "4 steps": 88.9, "GCN": 88.6, "no propagation": 88.5}
    by_name = {candidate.name: candidate for candidate in CANDIDATES}
    racers: Any = [
        Runner(name, (score, score), candidates=(by_name[name],)) for name, score in reached.items()
    ]
    assert names(going_on(racers, 3))[:2] == ["APPNP, 8 steps", "4 steps"]
    families = {by_name[name].family for name in reached}
    assert len(families) == len(reached)


def test_variations_of_one_network_are_one_kind() -> None:
    own = [replace(PLAIN, name=f"{i}", kind="a" if i < 3 else "b") for i in range(5)]
    trials = [Trial(candidate, (90.0 - i,), 1.0) for i, candidate in enumerate(own)]
    assert [trial.candidate.name for trial in of_each_kind(trials)] == ["0", "3"]


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda c: c.name)
def test_controllers_cost_more_than_their_network(candidate: Candidate) -> None:
    racer: Any = replace_candidates(Runner("x", (1.0,), epoch_seconds=0.5), candidate)
    assert price_of_controllers(racer) >= 5 * 0.5


def replace_candidates(runner: Runner, candidate: Candidate) -> Any:
    runner.candidates = (candidate,)
    return runner
