from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.search import auto, auto_picking, auto_race, auto_search
from ppro.search.auto_candidates import CANDIDATES, PLAIN, Candidate, distinct
from ppro.search.auto_race import Race, Racer
from ppro.search.auto_trials import Trial, best_first
from ppro.settings.settings import Settings
from ppro.training.fit import Task


def small(homophily: float = 0.8) -> tuple[Graph, Splits]:
    options = {"nodes": 120.0, "classes": 3.0, "features": 12.0, "homophily": homophily}
    graph = load_graph("csbm", options=options)
    return graph, make_splits(graph, "csbm", "random-60-20-20", 2, 0)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few epochs and runs, so that the time left decides nothing."""
    monkeypatch.setattr(auto_search, "GLANCE", 5)
    monkeypatch.setattr(auto_search, "FIRST_EPOCHS", 5)
    monkeypatch.setattr(auto_search, "SECOND_EPOCHS", 10)
    monkeypatch.setattr(auto_search, "LEARNING", 12)
    monkeypatch.setattr(auto_picking, "RUNS_BY_VALIDATION", ((1000, 2),))
    monkeypatch.setattr(auto_search, "ROUNDS", 1)


def test_every_candidate_is_valid_and_known_by_its_name() -> None:
    assert len({c.name for c in CANDIDATES}) == len(CANDIDATES)
    assert distinct(CANDIDATES, {}) == list(CANDIDATES)
    for candidate in CANDIDATES:
        assert candidate.why
        own = candidate.settings({"hidden": 8, "alpha": 0.3})
        assert isinstance(own, Settings)
        assert own.network.hidden == 8
        for other in (*candidate.variations({}), *candidate.controlled()):
            assert other.settings({}).flat() != candidate.settings({}).flat()
            assert other.settings({}).strategy == other.strategy


def test_what_must_be_among_the_candidates() -> None:
    settings = [c.settings({}) for c in CANDIDATES]
    depths = {s.network.max_steps for s in settings if s.flat().get("concat")}
    assert {1, 2, 4, 8} <= depths
    assert any(s.network.max_steps == 0 for s in settings)
    assert {"res-gcn", "res-sage", "gcn-scores"} <= {s.backbone for s in settings}
    assert {s.flat().get("form") for s in settings} >= {"hidden", "class", "features"}
    controlled = [c for base in CANDIDATES for c in base.controlled()]
    assert {c.strategy for c in controlled} == {"l2b", "l2u"}
    assert {c.settings({}).controllers.teaching for c in controlled} == {"compare"}


def test_what_is_compared_has_trained_as_long(short: None) -> None:
    graph, splits = small()
    told = list[str]()
    choice = auto.choose(graph, splits, budget=60.0, threads=1, tell=told.append)
    rungs = [line.partition(",")[0] for line in told if " rung, " in line]
    assert rungs == ["first rung", "second rung", "third rung"]
    epochs = [trial.epochs for trial in choice.trials]
    assert sorted(epochs, reverse=True) == epochs
    assert set(epochs) == {12, 5}
    names = [trial.candidate.name for trial in choice.trials]
    assert len(set(names)) == len(names)
    assert {c.name for c in CANDIDATES if not c.few_labels} <= set(names)
    assert any(name.startswith("L2B on ") for name in names)
    assert choice.trials[0].candidate.name in choice.reason
    # Real features are brought to one scale, column by column.
    assert len(choice.settings.inputs.feature_shift) == graph.num_features
    best = choice.trials[0].candidate.settings({"epochs": choice.settings.training.epochs})
    assert choice.settings.replace(feature_shift=(), feature_spread=(), feature_norm="row") == best
    assert choice.epoch_seconds > 0
    facts = choice.facts()
    assert facts["chosen"] == facts["tried"][0]["candidate"] == choice.trials[0].candidate.name
    assert {what.partition(", dropout")[0] for _, what, _ in choice.rows()} == {
        t.candidate.kind for t in choice.trials
    }


def test_it_tells_how_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    monkeypatch.setattr(auto_race, "TELL_EVERY", 0.2)
    moments = [time.monotonic()]
    auto.choose(
        graph, splits, budget=3.0, threads=1, tell=lambda _: moments.append(time.monotonic())
    )
    gaps = [after - before for before, after in pairwise(moments)]
    assert len(gaps) > 4
    assert max(gaps[1:]) < 1.5


def test_a_strategy_may_be_asked_for(short: None) -> None:
    graph, splits = small()
    told = list[str]()
    for strategy, budget in (("l2b", 20.0), ("l2u", 0.05)):
        options: Any = {"threads": 1, "tell": told.append}
        choice = auto.choose(graph, splits, strategy, budget=budget, **options)
        assert choice.settings.strategy == choice.trials[0].candidate.strategy == strategy
        assert choice.settings.controllers.teaching == "compare"
        if budget > 1:
            # Networks compete without controllers first, layered ones among them.
            bare = {t.candidate.name for t in choice.trials if t.candidate.strategy == "none"}
            assert {"residual SAGE", "GCN", "normalised GCN"} <= bare
            assert any(line.startswith("under controllers") for line in told)
    assert auto.choose(graph, splits, "none", budget=1.0, threads=1).settings.strategy == "none"


def test_every_network_can_have_controllers() -> None:
    graph, splits = small()
    race = Race(graph, splits, {}, torch.device("cpu"), 1, lambda _: None)
    for candidate in CANDIDATES:
        (taught,) = candidate.controlled(("l2b",))
        racer = race.enter([taught], 1)
        racer.advance(1, lambda: False)
        assert racer.epochs == 1
        assert taught.settings({}).network.max_steps >= 4


def test_agreement_is_for_few_labels_and_some_layers_for_many() -> None:
    _, splits = small()
    assert auto.suitable(splits) == [c for c in CANDIDATES if not c.few_labels]
    few = torch.zeros_like(splits.train)
    few[:, :6] = True
    fewer = Splits("few", few, splits.val, splits.test)
    assert auto.suitable(fewer) == [c for c in CANDIDATES if not c.many_labels]


def test_a_large_first_layer_has_rows_of_length_one_unless_a_user_scales_them() -> None:
    _, splits = small()
    (large,) = (c for c in CANDIDATES if c.scale)
    measured = {"feature_norm": "none", "feature_spread": (2.0,), "feature_length": 3.0}
    found = large.settings({**measured, "hidden": 8})
    assert found.flat()["first_layer"] == "scaled"
    assert (found.inputs.feature_norm, found.inputs.feature_length) == ("unit", 1.0)
    assert found.inputs.feature_spread == (2.0,)
    for other in (*large.variations(measured), *large.controlled()):
        assert other.settings(measured).inputs == found.inputs
    assert large in auto.suitable(splits, measured)
    for fixed in ({"feature_norm": "row"}, {"backbone": "gcn"}, {"first_layer": "glorot"}):
        assert large not in auto.suitable(splits, {**measured, **fixed}, fixed)


def test_the_budget_is_kept() -> None:
    graph, splits = small()
    auto.choose(graph, splits, budget=0.2, threads=1)  # warm caches
    start = time.monotonic()
    auto.choose(graph, splits, budget=2.0, threads=1)
    assert time.monotonic() - start < 2.0 + 1.0
    with pytest.raises(SettingsError, match="leaves no time"):
        auto.choose(graph, splits, budget=0)


def test_without_time_the_safe_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, splits = small()
    monkeypatch.setattr(Racer, "epoch_seconds", 100.0)
    choice = auto.choose(graph, splits, budget=5.0, threads=1)
    assert [trial.candidate for trial in choice.trials] == [PLAIN]
    assert "no time to try others" in choice.reason
    assert choice.settings.backbone == "res-sage"
    assert choice.rows() == []


def test_no_test_node_is_shown_to_a_training(monkeypatch: pytest.MonkeyPatch, short: None) -> None:
    graph, splits = small()
    seen = list[Splits]()

    def shown(graph: Graph, inputs: Any, splits: Splits, *rest: Any) -> Any:
        seen.append(splits)
        return Task(graph, inputs, splits, *rest)

    monkeypatch.setattr("ppro.search.auto_race.Task", shown)
    auto.choose(graph, splits, budget=3.0, threads=1)
    assert splits.test.any()
    assert seen
    assert not any(shown.test.any() for shown in seen)


def test_what_does_not_fit_into_memory_is_left_out(
    monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    graph, splits = small()
    enter = Race.enter

    def full(race: Race, candidates: Sequence[Candidate], *rest: int) -> Racer:
        if candidates[0].changes.get("concat"):
            raise torch.OutOfMemoryError
        return enter(race, candidates, *rest)

    monkeypatch.setattr(Race, "enter", full)
    choice = auto.choose(graph, splits, budget=20.0, threads=1)
    assert not any(t.candidate.changes.get("concat") for t in choice.trials)


def test_ctrl_c_ends_it() -> None:
    graph, splits = small()

    def tell(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        auto.choose(graph, splits, budget=5, threads=1, tell=tell)


def trial(simplicity: int, *accuracies: float) -> Trial:
    return Trial(replace(PLAIN, name=str(accuracies), simplicity=simplicity), accuracies, 1.0)


def test_the_simpler_of_equals_is_chosen() -> None:
    best, simple, worse = trial(3, 90.0, 91.0), trial(0, 89.0, 92.0), trial(0, 80.0, 81.0)
    assert best_first([worse, simple, best], 0.0) == [simple, best, worse]
    assert best_first([worse, best], 0.0)[0] is best
    assert best_first([worse, best], 50.0)[0] is best
    one, other = trial(3, 90.0), trial(1, 89.6)
    assert best_first([one, other], 0.5)[0] is one
    assert best_first([one, other], 3.0)[0] is other
    learning = replace(one, epochs=50, settled=47.0)
    assert best_first([learning, other], 3.0)[0] is learning


def test_controllers_are_named_after_the_network_and_not_after_its_depth() -> None:
    controlled = distinct([c for base in CANDIDATES for c in base.controlled()], {})
    names = [candidate.name for candidate in controlled]
    assert len(set(names)) == len(names)
    assert not any("step" in name or "no propagation" in name for name in names)
