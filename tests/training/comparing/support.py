"""Small trainings whose controllers compare."""

from __future__ import annotations

from typing import Any

from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.comparing import ComparingTrainer
from tests.support import CPU

RATES = (0.002, 0.01, 0.05, 0.2)
"""Runs that learn at different speeds stop at different epochs."""


def small_graph(nodes: int = 90) -> Graph:
    """A random graph of three classes."""
    return load_graph("csbm", options={"nodes": nodes, "classes": 3, "features": 8, "degree": 4})


def splits_of(graph: Graph, runs: int) -> Splits:
    """A random split of each run."""
    return make_splits(graph, "csbm", "random-60-20-20", runs, 0)


def settings_of(runs: int, **changes: Any) -> list[Settings]:
    """Runs that are judged every two epochs, and go through every phase of a training."""
    base: dict[str, Any] = {
        **{"teaching": "compare", "judge_every": 2, "warm_up": 4, "settle": 6},
        **{"hidden": 5, "controller_units": 4, "max_steps": 3, "epochs": 40, "patience": 8},
        **{"lr_controller": 0.02, "feature_norm": "none"},
    }
    return [
        Settings.model_validate({**base, "seed": run, "lr": RATES[run], **changes})
        for run in range(runs)
    ]


def trainer_of(graph: Graph, splits: Splits, settings: list[Settings]) -> ComparingTrainer:
    """The trainer that a fit would make."""
    train, val = (rows_from_masks(mask, graph.labels, CPU) for mask in (splits.train, splits.val))
    model = build_model(graph.num_features, graph.num_classes, settings, CPU)
    inputs = prepare_inputs(graph, settings[0], CPU)
    return ComparingTrainer(model, inputs, train, val, settings)  # type: ignore[arg-type]
