from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training import threads


def graph(nodes: int) -> Graph:
    ring = torch.stack([torch.arange(nodes), torch.arange(1, nodes + 1) % nodes])
    return Graph.build("ring", ring, torch.ones(nodes, 1), torch.arange(nodes) % 2)


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 8)


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert threads.available_cores() == 5
    assert threads.worth_cores(graph(10_000), Settings(hidden=1024), 100) == 5


@pytest.mark.parametrize("value", ["", "0", "-2", "many"])
def test_nonsense_in_the_environment_is_ignored(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    expected = threads.available_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads.available_cores() == expected >= 1


@pytest.mark.usefixtures("eight_cores")
def test_small_work_gets_one_core_and_large_work_all() -> None:
    assert threads.worth_cores(graph(100), Settings(), 1) == 1
    assert threads.worth_cores(graph(10_000), Settings(hidden=1024), 100) == 8


@pytest.mark.usefixtures("eight_cores")
def test_cores_grow_with_the_runs_and_with_what_propagates() -> None:
    large = graph(20_000)
    hidden, features, scores = (
        Settings(hidden=64, form=form) for form in ("hidden", "features", "class")
    )
    counts = [threads.worth_cores(large, hidden, runs) for runs in (1, 2, 4)]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    assert threads.worth_cores(large, features, 4) == counts[-1]
    assert threads.worth_cores(large, scores, 4) < counts[-1]
    raw = Settings(hidden=64, backbone="grand", consistency=1.0)
    # The ring has one feature, and that is what propagates.
    assert threads.worth_cores(large, raw, 4) < counts[-1]


@pytest.mark.usefixtures("eight_cores")
def test_cores_grow_with_the_features_that_are_filled() -> None:
    """The first layer may be dearer than a step, in which three class scores propagate."""
    nodes, scores = 10_000, Settings(hidden=64, form="class")
    features = torch.zeros(nodes, 500)
    ring = torch.stack([torch.arange(nodes), torch.arange(1, nodes + 1) % nodes])
    labels = torch.arange(nodes) % 3
    empty = Graph.build("empty", ring, features, labels)
    assert threads.worth_cores(empty, scores, 1) == 1
    features[:, :100] = 1.0
    full, sparse = (
        Graph.build("full", ring, x, labels) for x in (features, features.to_sparse_csr())
    )
    assert full.filled_features == sparse.filled_features == 100 * nodes
    assert threads.worth_cores(full, scores, 1) == threads.worth_cores(sparse, scores, 1) == 8


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 64), st.integers(1, 64))
def test_cores_are_shared_out_without_a_worker_too_many(cores: int, runs: int) -> None:
    workers, inside = threads.share_out(cores, runs)
    assert 1 <= workers <= runs
    assert inside >= 1
    assert workers * inside <= cores
    assert workers == runs or inside == 1


def test_use_threads_tells_pytorch() -> None:
    before = torch.get_num_threads()
    try:
        assert threads.use_threads(1) == 1
        assert torch.get_num_threads() == 1
    finally:
        threads.use_threads(before)
