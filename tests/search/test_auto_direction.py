"""A search on a directed graph tries what reads its edges one way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ppro.data import Splits, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.search import auto, auto_picking, auto_search
from ppro.search.auto_candidates import CANDIDATES
from ppro.search.auto_trials import Choice
from ppro.search.choice import searches


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few epochs, runs and candidates, so that the time left decides nothing."""
    monkeypatch.setattr(auto_search, "FIRST_EPOCHS", 10)
    monkeypatch.setattr(auto_search, "SECOND_EPOCHS", 40)
    monkeypatch.setattr(auto_picking, "RUNS_BY_VALIDATION", ((1000, 2),))
    monkeypatch.setattr(auto_search, "ROUNDS", 1)
    monkeypatch.setattr(auto_search, "VARIATIONS", 2)
    monkeypatch.setattr(auto, "ENOUGH_TO_TELL", 20)
    few = [c for c in CANDIDATES if c.name in ("residual SAGE", "1 step", "no propagation")]
    monkeypatch.setattr(auto, "CANDIDATES", few)


def followers(nodes: int = 200, *, directed: bool | None = None) -> tuple[Graph, Splits]:
    """Those who point to a node tell its class, and it points to as many of any class."""
    rng = np.random.default_rng(0)
    labels, shown = rng.integers(2, size=nodes), rng.integers(2, size=nodes)
    pairs = [(0, 1), (1, 0)]
    for target in range(nodes):
        alike = np.flatnonzero(shown == labels[target])
        pairs += [(int(source), target) for source in rng.choice(alike, size=3)]
    x = torch.from_numpy(np.eye(2)[shown] + 0.3 * rng.standard_normal((nodes, 2))).float()
    edges, y = torch.tensor(pairs).T, torch.from_numpy(labels)
    graph = Graph.build("followers", edges, x, y, directed=directed)
    return graph, make_splits(graph, "followers", "random-60-20-20", 2, 0)


def directions(choice: Choice) -> set[str]:
    """Which ways edges were read by all that was tried."""
    return {trial.candidate.settings({}).inputs.direction for trial in choice.trials}


def test_a_directed_graph_is_read_one_way_where_that_is_better(short: None) -> None:
    graph, splits = followers()
    told = list[str]()
    choice = auto.choose(graph, splits, "none", budget=60.0, threads=1, tell=told.append)
    assert any(line.startswith("edges read one way, ") for line in told)
    assert choice.settings.inputs.direction == "in"
    assert "in-edges" in choice.reason
    names = [trial.candidate.name for trial in choice.trials]
    assert len(set(names)) == len(names)
    assert sum(", out-edges" in name for name in names) >= 2
    assert not any("no propagation, in" in name for name in names)


def test_controllers_may_be_on_what_reads_one_way(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_search, "LEARNING", 5)
    graph, splits = followers()
    choice = auto.choose(graph, splits, "l2b", budget=60.0, threads=1)
    assert choice.settings.strategy == "l2b"
    found = {t.candidate.settings({}).inputs.direction for t in choice.trials if t.epochs == 5}
    assert "in" in found


def test_few_validation_nodes_cannot_tell_a_direction(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "ENOUGH_TO_TELL", 100)
    graph, splits = followers()
    choice = auto.choose(graph, splits, "none", budget=60.0, threads=1)
    assert directions(choice) == {"both"}


def test_other_graphs_are_read_both_ways(short: None) -> None:
    graph, splits = followers(directed=False)
    told = list[str]()
    choice = auto.choose(graph, splits, "none", budget=60.0, threads=1, tell=told.append)
    assert not any("one way" in line for line in told)
    assert directions(choice) == {"both"}
    with pytest.raises(SettingsError, match="followers: its edges have no direction"):
        auto.choose(graph, splits, "none", fixed={"direction": "in"}, budget=60.0)


def test_who_says_the_direction_leaves_open_what_is_trained(short: None) -> None:
    assert searches("mine", "auto", {"direction": "out"})
    assert searches("csbm-like", None, {"direction": "out"})
    graph, splits = followers()
    fixed = {"direction": "out"}
    choice = auto.choose(graph, splits, "none", fixed=fixed, budget=60.0, threads=1)
    assert choice.settings.inputs.direction == "out"
    assert not any("-edges" in trial.candidate.name for trial in choice.trials)


def test_every_candidate_can_read_one_way() -> None:
    for candidate in CANDIDATES:
        both = candidate.settings({})
        for other, direction in zip(auto.one_way(candidate), ("in", "out"), strict=False):
            assert other.settings({}) == both.replace(direction=direction)
            assert other.simplicity > candidate.simplicity
            assert other.kind == other.name
