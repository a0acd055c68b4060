"""A training refuses what does not fit together, and does not mind what PyTorch was set to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import torch

import ppro
from ppro import DataError, Graph, Settings, SettingsError, Splits, fit, load_graph, make_splits

OPTIONS = {"nodes": 60, "classes": 3, "features": 8}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options=OPTIONS)


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", runs=2, seed=0)


def settings(runs: int = 2) -> list[Settings]:
    return [Settings(epochs=3, hidden=8, seed=seed) for seed in range(runs)]


@pytest.mark.parametrize("wrong", [settings()[0], [{"epochs": 3}] * 2, None, "ab"])
def test_settings_are_a_list_of_settings(graph: Graph, splits: Splits, wrong: Any) -> None:
    with pytest.raises(SettingsError, match=r"give a list of ppro.Settings, one for each run"):
        fit(graph, splits, wrong)


def test_another_graph_is_told_of(graph: Graph, splits: Splits) -> None:
    for nodes in (40, 80):
        other = load_graph("csbm", options={**OPTIONS, "nodes": nodes})
        with pytest.raises(DataError, match=f"is of 60 nodes, but csbm has {nodes}; make a split"):
            fit(other, splits, settings())
    with pytest.raises(DataError, match=r"dict is no ppro.Graph; give ppro.as_graph"):
        fit({"x": 1}, splits, settings())  # type: ignore[arg-type]


def test_a_device_may_be_named(graph: Graph, splits: Splits) -> None:
    named, given = (
        fit(graph, splits, settings(), device=device) for device in ("cpu", torch.device("cpu"))
    )
    assert torch.equal(named.nodes.probabilities, given.nodes.probabilities)
    with pytest.raises(SettingsError, match="device 'tpu': unknown"):
        fit(graph, splits, settings(), device="tpu")


@contextmanager
def another_device() -> Iterator[None]:
    torch.set_default_device("meta")
    try:
        yield
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, another_device])
def test_what_pytorch_is_set_to_changes_nothing(
    graph: Graph, splits: Splits, mode: type[AbstractContextManager[None]], tmp_path: Any
) -> None:
    usual = fit(graph, splits, settings(), threads=1)
    model = ppro.PPro(epochs=3, hidden=8, max_steps=3, device="cpu", threads=1)
    expected = model.fit(graph).predict_proba(graph)
    with mode():
        other = fit(load_graph("csbm", options=OPTIONS), splits, settings(), threads=1)
        found = model.fit(graph).predict_proba(graph)
        model.save(tmp_path / "run")
        loaded = ppro.load(tmp_path / "run").predict_proba(graph)
        assert torch.is_grad_enabled() == (mode is another_device)
    assert torch.equal(usual.nodes.probabilities, other.nodes.probabilities)
    assert (found == expected).all()
    assert (loaded == expected).all()
