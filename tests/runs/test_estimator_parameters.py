"""Parameters of a wrong kind are named by fit, before anything is trained."""

from __future__ import annotations

from typing import Any

import pytest
from torch_geometric.nn import GCN

from ppro import Graph, PPro, SettingsError, load_graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 60, "classes": 3, "features": 8})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"n_runs": 10**6}, "n_runs 1000000: give a whole number from 1, at most 10000"),
        ({"n_runs": "2"}, "n_runs 2: give a whole number"),
        ({"validation_share": "a"}, "validation_share a: give a share between 0 and 1"),
        ({"validation_share": None}, "validation_share None: give a share"),
        ({"class_weight": {"0": "much"}}, "class_weight: 'much' is no number"),
        ({"class_weight": {"0": None}}, "class_weight: None is no number"),
        ({"settings": [1]}, r"settings \[1\]: give a dict from names to values"),
        ({"settings": "l2b"}, "settings 'l2b': give a dict"),
        ({"threads": 1.5}, "1.5 threads: give a whole number from 1"),
        ({"threads": "all"}, "all threads: give a whole number"),
        ({"recipe": "auto", "budget": "long"}, "budget 'long': give some seconds"),
        ({"recipe": "auto", "budget": float("nan")}, "budget nan: give some seconds"),
        ({"recipe": "auto", "budget": None}, "budget None: give some seconds"),
        ({"recipe": "auto", "budget": -1}, "a budget of -1.0 s leaves no time; give some seconds"),
        ({"recipe": "auto", "settings": {"model": "mlp"}}, "model mlp is none of them; leave the"),
        ({"recipe": "auto", "backbone": GCN(8, 8, 2)}, "recipe auto tries networks that have a n"),
        ({"backbone": dict}, "dict is a class, but no subclass of ppro.nn.backbones.Backbone"),
        ({"backbone": ["gcn", "gcn"]}, "'gcn' is no convolution"),
        ({"max_steps": 0}, "^settings: max_steps: 0 is for the bare backbone alone; give at least"),
        (
            {"settings": {"measures": ["degree", "degree"]}},
            r"^settings: measures: a measure stands twice; name each once \(got \['degree', 'de",
        ),
    ],
)
def test_wrong_kinds_are_named(graph: Graph, changes: dict[str, Any], told: str) -> None:
    given = {"epochs": 2, "hidden": 8, "device": "cpu", **changes}
    with pytest.raises(SettingsError, match=told) as error:
        PPro(**given).fit(graph)
    assert "\n" not in str(error.value)


def test_a_threshold_is_a_number_or_a_word(graph: Graph) -> None:
    labels = (graph.labels == 0).long()
    model = PPro(epochs=2, hidden=8, max_steps=2, device="cpu").fit(graph, labels)
    for wrong in ([0.3], "zz", 2):
        with pytest.raises(SettingsError, match="give a number from 0 to 1, or best"):
            model.predict(graph, threshold=wrong)  # type: ignore[arg-type]


def test_nothing_is_left_of_an_earlier_fit(graph: Graph) -> None:
    model = PPro(epochs=2, hidden=8, max_steps=2, device="cpu")
    model.fit(graph, (graph.labels == 0).long())
    assert model.positive_class_ in (0, 1)
    assert not hasattr(model.fit(graph), "positive_class_")
