"""The estimator that searches its settings, and the recipes that it takes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ppro
from ppro.data import load_graph
from ppro.errors import SettingsError
from ppro.graph.core import Graph


def graph_of(**options: float) -> Graph:
    return load_graph("csbm", options={"nodes": 120, "features": 12, **options})


def quick(**changes: Any) -> ppro.PPro:
    base: dict[str, Any] = {"budget": 2.5, "device": "cpu", "threads": 1, "random_state": 0}
    return ppro.PPro(**{**base, **changes})


def test_without_parameters_it_searches_and_says_what_it_found(tmp_path: Path) -> None:
    graph = graph_of()
    quick(epochs=1).fit(graph)  # imports what is imported late
    begin = time.monotonic()
    model = quick(n_runs=2, budget=4.0).fit(graph)
    assert time.monotonic() - begin < 4.0 + 1.5
    assert model.search_ is not None
    assert model.search_["chosen"] == model.search_["tried"][0]["candidate"]
    assert len(model.search_["tried"]) > 1
    assert model.run_.facts["notes"][0].startswith("auto chose")
    assert model.score(graph) > 0.5
    model.save(tmp_path / "model")
    again = ppro.load(tmp_path / "model", device="cpu")
    assert again.search_ == model.search_
    assert np.array_equal(again.predict(graph), model.predict(graph))


def test_what_is_given_holds() -> None:
    given: Any = {"recipe": "auto", "hidden": 9, "strategy": "l2u", "metric": "macro-f1"}
    graph = graph_of()
    model = quick(**given, class_weight={graph.class_names[0]: 2.0}).fit(graph)
    found = model.settings_[0]
    assert (found.network.hidden, found.strategy) == (9, "l2u")
    assert found.training.metric == "macro-f1"


def test_parameters_that_say_what_to_train_need_no_search() -> None:
    graph = graph_of()
    for model in (quick(epochs=2), quick(backbone="gcn", epochs=2), quick(settings={"epochs": 2})):
        assert model.fit(graph).search_ is None
        assert model.settings_[0].training.epochs == 2


@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (0.001, 0.0), (1.0, 20.0)])
def test_plain_does_not_mind_units(factor: float, shift: float) -> None:
    graph = graph_of()
    other = Graph.build("other", graph.edge_index, factor * graph.features + shift, graph.labels)
    first, second = (quick(recipe="plain", epochs=30).fit(g) for g in (graph, other))
    assert first.settings_[0].strategy == "none"
    assert first.settings_[0].training.epochs == 30
    a, b = first.predict_proba(graph), second.predict_proba(other)
    assert float(np.abs(a - b).max()) < 0.05
    part = torch.arange(40)
    some = Graph.build("some", torch.zeros(2, 0).long(), graph.features[part], graph.labels[part])
    assert first.predict(some).shape == (40,)


def test_a_recipe_has_a_name() -> None:
    model = quick(recipe="csbm-l2u", epochs=2).fit(graph_of())
    assert model.settings_[0].strategy == "l2u"
    with pytest.raises(SettingsError, match="no recipe 'plane'"):
        quick(recipe="plane").fit(graph_of())
    with pytest.raises(SettingsError, match="leaves no time"):
        quick(budget=0).fit(graph_of())
