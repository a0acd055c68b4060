"""A graph built to need personal depth: steps are found where they were planted."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.data.generated.planted import PLANTED, deep_nodes
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

RUNS, EPOCHS = 2, 150
OPTIONS = {"nodes": 600}
World = tuple[Graph, Splits]


@pytest.fixture(scope="module")
def world() -> World:
    graph = load_graph("planted", options=OPTIONS)
    return graph, make_splits(graph, "planted", "random-60-20-20", RUNS, 0)


def trained(world: World, **changes: Any) -> Fit:
    base = {
        **{"feature_norm": "none", "epochs": EPOCHS, "patience": EPOCHS, "hidden": 32},
        **{"lr": 0.02, "dropout": 0.2, "lr_controller": 0.01, "warm_up": 30, "settle": 60},
        **changes,
    }
    settings = [Settings.model_validate({**base, "seed": run}) for run in range(RUNS)]
    return fit(*world, settings, threads=1)


@pytest.fixture(scope="module")
def best_fixed(world: World) -> float:
    """The best of the fixed depths on test nodes: more than a choice by validation could reach."""
    depths = (trained(world, strategy="none", max_steps=depth) for depth in (1, 2, 4, 8))
    return max(float(found.test_accuracy.mean()) for found in depths)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_personal_depth_beats_every_fixed_one(
    world: World, best_fixed: float, strategy: str
) -> None:
    found = trained(world, strategy=strategy, teaching="compare", max_steps=8)
    assert float(found.test_accuracy.mean()) > best_fixed + 3
    assert PLANTED.generator is not None
    options = {name: option.default for name, option in PLANTED.generator.options.items()}
    deep = torch.from_numpy(deep_nodes(0, {**options, **OPTIONS}))
    steps = found.nodes.steps.double()
    apart = steps[:, deep].mean(1) - steps[:, ~deep].mean(1)
    assert bool((apart > 0).all())
    assert float(apart.mean()) > 0.75
    assert bool((found.nodes.priorities.std(1) > 0.01).all())
