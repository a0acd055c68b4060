from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.search import auto
from ppro.search.auto_candidates import CANDIDATES, Candidate
from ppro.search.auto_trials import Trial
from ppro.settings.limits import SEARCH_SEED
from ppro.settings.settings import Settings
from ppro.training.fit import fit


def small(homophily: float = 0.8) -> tuple[Graph, Splits]:
    options = {"nodes": 120.0, "classes": 3.0, "features": 12.0, "homophily": homophily}
    graph = load_graph("csbm", options=options)
    return graph, make_splits(graph, "csbm", "random-60-20-20", 2, 0)


@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
def test_every_candidate_is_valid_and_known_by_its_name(strategy: str) -> None:
    assert len({c.name for c in CANDIDATES}) == len(CANDIDATES)
    for candidate in CANDIDATES:
        assert candidate.why
        settings = candidate.settings(strategy)
        assert isinstance(settings, Settings)
        assert settings.strategy == strategy


def test_the_best_mean_of_both_rounds_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    told: list[str] = []
    monkeypatch.setattr(auto, "affordable", lambda finalists, seconds: [])
    monkeypatch.setattr(auto, "MORE_ROUNDS", 0)
    choice = auto.choose(graph, splits, "l2b", budget=4.0, threads=1, tell=told.append)
    scores = [trial.score for trial in choice.trials if len(trial.accuracies) == 7]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    # The features of this graph are no counts, so their rows must not be made to sum to one.
    expected = choice.trials[0].candidate.settings("l2b").replace(feature_norm="none")
    assert choice.settings == expected
    assert len(choice.trials) == len(auto.suitable(splits))
    assert len(told) == len(choice.trials) + 3
    assert choice.trials[0].candidate.name in choice.reason


def trial(candidate: Candidate, *accuracies: float, seconds: float = 6.0) -> Trial:
    return Trial(candidate, accuracies, seconds)


def test_variations_differ_from_their_candidate_in_one_setting() -> None:
    for candidate in CANDIDATES:
        own = candidate.settings("l2b").flat()
        for variation in candidate.variations():
            other = variation.settings("l2b").flat()
            assert len([key for key in own if own[key] != other[key]]) == 1
            assert variation.name.startswith(candidate.name)


def test_only_what_there_is_time_for_is_varied() -> None:
    first, second = (trial(c, 90.0, 91.0, seconds=2.0) for c in CANDIDATES[:2])
    each = auto.RUNS[-1] * 1.0
    assert auto.affordable([first, second], 1.9 * each) == []
    ((found, variations),) = auto.affordable([first, second], 3.5 * each)
    assert found == first
    assert len(variations) == 2
    families = auto.affordable([first, second], 100 * each)
    assert [len(v) for _, v in families] == [len(c.variations()) for c in CANDIDATES[:2]]


def test_a_variation_wins_by_a_gain_beyond_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    clock = auto._Clock(graph, splits, "l2b", None, 1)
    base, other, last = (trial(c, *[80.0 - i] * 7) for i, c in enumerate(CANDIDATES[:3]))
    runs = auto.RUNS[-1]
    noisy, better = [70.0, 100.0] * (runs // 2), [84.0, 85.0] * (runs // 2)

    def round_(candidates: list[Candidate], *_: object) -> list[Trial]:
        rows = [[80.0] * runs, noisy, better]
        return [trial(c, *row) for c, row in zip(candidates, rows, strict=True)]

    monkeypatch.setattr(auto._Clock, "round", lambda _, *args: round_(*args))
    varied = base.candidate.variations()[:2]
    monkeypatch.setattr(auto, "affordable", lambda *_: [(base, varied)])
    ranked = clock.varied([base, other, last], 100.0, lambda _: None)
    names = [t.candidate.name for t in ranked]
    others = [c.name for c in CANDIDATES[:3]]
    assert names == [varied[1].name, *others, varied[0].name]
    assert len(ranked[1].accuracies) == 7 + runs


def test_the_first_stays_so_unless_another_gains_beyond_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, splits = small()
    clock = auto._Clock(graph, splits, "l2b", None, 1)
    ranked = [trial(c, 80.0, 80.0, seconds=0.0) for c in CANDIDATES[:4]]
    runs, rounds = auto.RUNS[-1], list[int]()

    def settled(*rows: list[float]) -> list[str]:
        def round_(_: object, candidates: list[Candidate], number: int, *__: object) -> list[Trial]:
            rounds.append(number)
            return [trial(c, *row) for c, row in zip(candidates, rows, strict=True)]

        monkeypatch.setattr(auto._Clock, "round", round_)
        found = clock.settled(ranked, 100.0, lambda _: None)
        assert len(found[0].accuracies) == 2 + auto.MORE_ROUNDS * runs
        return [t.candidate.name for t in found]

    names, same = [c.name for c in CANDIDATES[:4]], [80.0] * runs
    noisy, better = [60.0, 101.0] * (runs // 2), [80.5, 81.0] * (runs // 2)
    assert settled(same, noisy, same) == names
    assert rounds == list(range(len(auto.RUNS), len(auto.RUNS) + auto.MORE_ROUNDS))
    assert settled(same, noisy, better) == [names[2], names[0], names[1], names[3]]
    slow = [replace(t, seconds=1000.0) for t in ranked]
    assert clock.settled(slow, 100.0, lambda _: None) == slow


def test_later_rounds_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    seeds = list[int]()

    def fit(graph: Graph, splits: Splits, settings: list[Settings], **_: object) -> object:
        seeds.extend(s.seed for s in settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(auto, "fit", fit)
    clock = auto._Clock(graph, splits, "l2b", None, 1)
    for number in range(6):
        with pytest.raises(KeyboardInterrupt):
            clock._trial(CANDIDATES[0], number, 1.0)
    assert seeds == list(range(SEARCH_SEED, SEARCH_SEED + 2 + 5 + 4 * 6))


def test_the_budget_is_kept() -> None:
    graph, splits = small()
    auto.choose(graph, splits, "l2b", budget=0.2, threads=1)  # warm caches
    start = time.monotonic()
    auto.choose(graph, splits, "l2b", budget=2.0, threads=1)
    assert time.monotonic() - start < 2.0 + 2.0
    with pytest.raises(SettingsError, match="leaves no time"):
        auto.choose(graph, splits, "l2b", budget=0)


def test_test_labels_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    short = tuple(replace(c, changes={**c.changes, "epochs": 5}) for c in CANDIDATES)
    monkeypatch.setattr(auto, "CANDIDATES", short)
    hidden = torch.where(splits.test.any(0) & ~(splits.train | splits.val).any(0), 0, graph.labels)
    other = Graph.build("other", graph.edge_index, graph.features, hidden)
    first, second = (auto.choose(g, splits, "none", budget=30, threads=1) for g in (graph, other))
    assert not any(trial.trouble for trial in (*first.trials, *second.trials))
    assert [t.accuracies for t in first.trials] == [t.accuracies for t in second.trials]


def test_no_test_node_is_shown_to_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    seen = list[Splits]()

    def shown(graph: Graph, splits: Splits, settings: Any, **rest: Any) -> Any:
        seen.append(splits)
        return fit(graph, splits, settings, **rest)

    monkeypatch.setattr(auto, "fit", shown)
    auto.choose(graph, splits, "l2b", budget=1.0, threads=1)
    assert splits.test.any()
    assert seen
    assert not any(shown.test.any() for shown in seen)


def test_consistency_is_for_few_labels_and_dense_features_for_a_gpu() -> None:
    _, splits = small()
    gpu = torch.device("cuda")
    assert all("consistency" not in c.changes for c in auto.suitable(splits, gpu))
    few = torch.zeros_like(splits.train)
    few[:, :6] = True
    fewer = Splits("few", few, splits.val, splits.test)
    assert auto.suitable(fewer, gpu) == list(CANDIDATES)
    assert auto.suitable(fewer) == [c for c in CANDIDATES if not c.for_gpu]


def test_what_does_not_fit_into_memory_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    told: list[str] = []

    def full(*arguments: Any, **options: Any) -> Any:
        if arguments[2][0].flat().get("concat"):
            raise torch.OutOfMemoryError
        return fit(*arguments, **options)

    monkeypatch.setattr(auto, "fit", full)
    choice = auto.choose(graph, splits, "l2b", budget=4.0, threads=1, tell=told.append)
    assert not choice.settings.flat()["concat"]
    lost = [trial for trial in choice.trials if trial.trouble == "not enough memory"]
    assert {trial.candidate.name for trial in lost} == {"own first", "own apart"}
    assert all(trial.score == 0 for trial in lost)
    assert any("own apart: validation 0.0 % (2 runs, 0 s, not enough memory)" in t for t in told)


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()

    def tell(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        auto.choose(graph, splits, "l2b", budget=5, threads=1, tell=tell)
