from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from optuna.distributions import CategoricalDistribution, FloatDistribution

from ppro.errors import SettingsError
from ppro.search.methods import Method, find_method, method_names
from ppro.search.tuning.spaces import NAMES, SHAPE, named_space
from ppro.search.tuning.subject import kind_of_graph
from ppro.settings.settings import Settings
from tests.search.tuning.support import subject

METHODS_OF_TABLES = [
    method
    for method in map(find_method, method_names())
    if not method.consistent and not method.wide
]


@pytest.mark.parametrize("method", METHODS_OF_TABLES, ids=lambda m: m.name)
@pytest.mark.parametrize("name", NAMES)
def test_every_method_has_every_space(method: Method, name: str) -> None:
    agreeing = {"consistency": 1.0} if method.settings.get("backbone") == "grand" else {}
    settings = Settings(**{**method.settings, **agreeing})
    space = named_space(name, settings, {})
    assert set(space.values) <= settings.per_run
    for params in space.begin_with():
        assert params.keys() == space.distributions.keys()
        changed = settings.replace(**space.changes(params))
        assert changed.model == settings.model
        assert changed.strategy == settings.strategy


def test_the_grid_of_the_paper() -> None:
    space = named_space("paper", Settings(), {})
    assert space.shapes == {"patience=100": {"patience": 100}, "patience=200": {"patience": 200}}
    choices = {
        key: set(d.choices) if isinstance(d, CategoricalDistribution) else (d.low, d.high)
        for key, d in space.values.items()
        if isinstance(d, CategoricalDistribution | FloatDistribution)
    }
    penalties = {0.01, 0.1, 1, 10, 100}
    assert choices == {
        "lr": {0.005, 0.01, 0.05, 0.1},
        "dropout": (0, 0.9),
        "weight_decay": {1e-5, 5e-4, 1e-4, 5e-3, 1e-3},
        "lambda1": penalties,
        "lambda2": penalties,
        "epsilon": (0.1, 0.9),
    }
    assert space.size is None
    first = {"lr": 0.01, "dropout": 0.5, "weight_decay": 5e-4}
    assert space.first == {**first, "lambda1": 1.0, "lambda2": 1.0, "epsilon": 0.5}


def test_a_backbone_alone_has_no_controllers_to_search() -> None:
    space = named_space("paper", Settings(strategy="none"), {})
    assert set(space.values) == {"lr", "dropout", "weight_decay"}


def test_what_is_fixed_is_not_searched() -> None:
    fixed = {"lr": 0.02, "max_steps": 7, "form": "hidden"}
    free, space = (named_space("homophilous", Settings(), f) for f in ({}, fixed))
    assert "lr" in free.values
    assert "lr" not in space.values
    assert not any(key in shape for shape in space.shapes.values() for key in fixed)
    # Shapes that differed in nothing else have become one.
    assert len(space.shapes) < len(free.shapes)
    assert free.size is not None
    assert space.size is not None
    assert space.size < free.size
    assert len(space.distributions[SHAPE].choices) == len(space.shapes)  # type: ignore[attr-defined]


def test_nothing_left_to_search() -> None:
    fixed = dict.fromkeys([*named_space("paper", Settings(), {}).values, "patience"], 1)
    with pytest.raises(SettingsError, match="leave some to be searched"):
        named_space("paper", Settings(), fixed)


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("papers", Settings(), "did you mean 'paper'"),
        ("homophilous", Settings(backbone="sgc"), "use --space paper"),
    ],
)
def test_no_such_space(name: str, settings: Settings, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        named_space(name, settings, {})


def test_the_kind_of_a_graph_is_judged_without_test_labels() -> None:
    about = subject()
    splits, graph = about.splits, about.graph
    known = splits.train[0] | splits.val[0]
    alike = torch.where(known, 0, torch.arange(graph.num_nodes) % 2)
    assert kind_of_graph(replace(graph, labels=alike), splits) == "homophilous"
    lonely = replace(graph, edge_index=graph.edge_index[:, :0])
    assert kind_of_graph(lonely, splits) == "homophilous"
    apart = torch.arange(graph.num_nodes)
    assert kind_of_graph(replace(graph, labels=apart), splits) == "heterophilous"
