"""What the training leaves of a budget, and that the search makes use of it."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ppro.data import load_graph, make_splits
from ppro.search import auto_search, auto_time
from ppro.search.auto import choose
from ppro.search.auto_candidates import PLAIN
from ppro.search.auto_picking import price_of_controllers
from ppro.search.auto_time import EPOCHS, TAUGHT_EPOCHS, Training


def racer(score: float, seconds: float, runs: int = 1, strategy: str = "none") -> Any:
    candidate = PLAIN if strategy == "none" else PLAIN.controlled((strategy,))[0]
    return SimpleNamespace(
        **{"candidates": (candidate,), "runs": runs, "trouble": "", "epochs": 10},
        **{"epoch_seconds": seconds, "run_seconds": seconds / runs},
        trials=lambda _: [SimpleNamespace(score=score)],
    )


@pytest.mark.parametrize(
    ("runs", "cores", "speed"), [(1, 8, 1), (5, 1, 1), (5, 2, 1.6), (2, 8, 1.6)]
)
def test_runs_side_by_side_take_less_time(runs: int, cores: int, speed: float) -> None:
    training = Training(runs, 100.0, cores)
    assert training.speed == pytest.approx(speed)
    begins = training.begins([racer(80.0, 0.01)])
    assert begins == pytest.approx(100.0 - EPOCHS * 0.01 * runs / speed)


def test_the_dearest_of_those_that_may_win_counts() -> None:
    training = Training(1, 100.0, 1)
    best = [racer(90.0 - i, 0.01) for i in range(auto_time.ABLE)]
    far_behind = racer(50.0, 1.0)
    assert training.begins([*best, far_behind]) == pytest.approx(100.0 - EPOCHS * 0.01)
    assert training.begins([far_behind, *best[1:]]) == pytest.approx(100.0 - EPOCHS * 1.0)


def test_controllers_have_their_own_price() -> None:
    training, bare = Training(1, 100.0, 1), racer(80.0, 0.04, runs=2)
    taught = racer(80.0, 0.1, strategy="l2b")
    assert training.begins([taught]) == pytest.approx(100.0 - TAUGHT_EPOCHS * 0.1)
    foreseen = TAUGHT_EPOCHS * price_of_controllers(bare) / 2
    wanted = 100.0 - max(EPOCHS * 0.02, foreseen)
    assert training.begins([bare], taught=True) == pytest.approx(wanted)


def test_a_search_has_the_time_that_its_training_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_search, "ROUNDS", 1000)
    graph = load_graph("csbm", options={"nodes": 120, "features": 12})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    begin = time.monotonic()
    alone = choose(graph, splits, "none", budget=3.0, threads=1)
    monkeypatch.setattr(auto_time, "EPOCHS", 1)
    training = Training(1, begin + alone.seconds + 6.0, 1)
    longer = choose(graph, splits, "none", budget=3.0, threads=1, training=training)
    assert alone.seconds < 4.0 < longer.seconds
    assert len(longer.trials[0].accuracies) > len(alone.trials[0].accuracies)
