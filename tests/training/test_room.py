"""Memory that is not there: one line with the estimate and the remedy, before anything is built."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training import room
from ppro.training.fit import fit
from ppro.training.room import check_room, out_of_memory


@pytest.fixture
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 80, "features": 64})


def splits(graph: Graph, runs: int) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", runs, 0)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(hidden=65_536, model="gcnii", strategy="none", max_steps=64),
        Settings(hidden=65_536, controller_units=65_536),
    ],
    ids=["gcnii", "l2b"],
)
def test_a_training_beyond_the_memory_is_refused_before_it_is_built(
    graph: Graph, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "available", lambda: 8 * 2**30)
    start = time.monotonic()
    with pytest.raises(SettingsError, match=r"needs about \d+\.\d GiB .* 8\.0 GiB are free; train"):
        fit(graph, splits(graph, 3), [settings.replace(seed=s) for s in range(3)])
    assert time.monotonic() - start < 10


def test_a_usual_training_fits(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "available", lambda: 2**30)
    check_room(graph, [Settings()] * 10)
    monkeypatch.setattr(room, "available", lambda: None)
    check_room(graph, [Settings(hidden=65_536)] * 10)


def test_running_out_of_memory_is_one_line() -> None:
    told = []
    for make in (lambda: torch.empty(10**15), lambda: np.empty(10**15), lambda: bytearray(10**15)):
        try:
            make()
        except Exception as error:
            told.append(out_of_memory(error))
    assert len(told) == 3
    assert all(line and line.startswith("out of memory (") and "GiB" in line for line in told)
    assert "3725290.3 GiB more were asked for" in str(told[0])
    assert out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied")) is None


def test_another_default_of_pytorch_changes_nothing(graph: Graph) -> None:
    settings = [Settings(epochs=3, hidden=8, seed=s) for s in range(2)]
    usual = fit(graph, splits(graph, 2), settings, threads=1)
    torch.set_default_dtype(torch.float64)
    try:
        other = fit(graph, splits(graph, 2), settings, threads=1)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    for name, tensor in usual.model.state_dict().items():
        assert torch.equal(tensor, other.model.state_dict()[name])
    assert torch.equal(usual.nodes.probabilities, other.nodes.probabilities)
