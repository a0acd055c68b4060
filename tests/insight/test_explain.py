from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.data import load_graph, make_splits
from ppro.graph.core import Graph
from ppro.insight.explain import explain_nodes
from ppro.insight.explanation import Explanation
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Inputs
from ppro.runs.tensors import read_weights, write_weights
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import fit
from tests.support import CPU, Reference, World, model64, small_settings

Change = dict[str, Any]
VARIANTS: list[Change] = [
    {"strategy": "l2b"},
    {"strategy": "l2u"},
    {"strategy": "l2b", "form": "class"},
    {"strategy": "l2u", "controller_inputs": "predictions", "concat": True},
    {"strategy": "l2b", "use_priority": False, "weight_form": "tanh"},
    {"strategy": "l2u", "form": "features"},
    {"strategy": "l2b", "form": "features", "concat": True},
]


def explained(change: Change, seed: int = 3) -> tuple[PProNetwork, World, Explanation]:
    world = World.random(seed)
    model = model64([small_settings(seed=seed, **change)])
    assert isinstance(model, PProNetwork)
    graph = Graph.build("w", world.edges, world.x, world.labels)
    return model, world, explain_nodes(model, world.inputs, graph)


@pytest.mark.parametrize("change", VARIANTS, ids=str)
def test_every_step_is_that_of_the_equations(change: Change) -> None:
    model, world, told = explained(change)
    reference = Reference(model, 0, world)
    reference.propagate()
    last = model.max_steps
    assert told.probabilities.shape == (world.nodes, last + 1, 3)
    for i in range(world.nodes):
        for k in range(last + 1):
            logits = reference.classify(i, reference.h[k][i], dropped=False)
            torch.testing.assert_close(told.probabilities[i, k], logits.softmax(-1).detach())
        assert int(told.steps[i]) == reference.step(i)
        weight = reference.weight(i, reference.step(i)).detach()
        assert told.priorities is not None
        torch.testing.assert_close(told.priorities[i], weight)
        assert told.measures is not None
        torch.testing.assert_close(told.measures[i], reference.z[i].detach())


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_decisions_say_where_a_node_stops(strategy: str) -> None:
    model, world, told = explained({"strategy": strategy})
    assert told.decisions is not None
    over = told.decisions > float(model.epsilon[0])
    for i in range(world.nodes):
        wanted = (over[i].nonzero().squeeze(1) + 1).tolist()
        if strategy == "l2b":
            assert int(told.steps[i]) == (wanted[0] if wanted else model.max_steps)
        else:
            assert int(told.steps[i]) == (wanted[-1] if wanted else 0)


def test_without_controllers_there_is_nothing_to_decide() -> None:
    model, _, told = explained({"strategy": "none"})
    assert (told.steps == model.max_steps).all()
    assert told.decisions is told.priorities is told.drivers is told.measures is None
    _, _, fixed = explained({"strategy": "l2b", "use_propagation": False})
    assert fixed.decisions is None
    assert fixed.priorities is not None
    _, _, unweighted = explained({"strategy": "l2b", "use_weighting": False})
    assert unweighted.priorities is unweighted.drivers is None


@pytest.mark.parametrize("change", VARIANTS[:2] + VARIANTS[4:], ids=str)
def test_drivers_are_what_a_small_change_of_an_input_does_to_the_priority(change: Change) -> None:
    model, _, told = explained(change)
    assert told.drivers is not None
    assert told.measures is not None
    assert told.priorities is not None
    assert told.drivers.shape[1] == len(told.driver_names)
    controllers = model.controllers
    assert controllers is not None
    small = 1e-6
    for measure in range(3):
        # z enters the first layer linearly: weights a bit larger are z a bit larger.
        weight = controllers.priority.data
        before = weight.clone()
        weight[:, measure] *= 1 + small
        moved = explain_like(model, told)
        weight.copy_(before)
        slope = (moved - told.priorities) / small
        torch.testing.assert_close(slope, told.drivers[:, measure], rtol=1e-3, atol=1e-4)


def explain_like(model: PProNetwork, told: Explanation) -> torch.Tensor:
    """The priorities of the same nodes, had they taken the same steps."""
    world = World.random(3)
    reference = Reference(model, 0, world)
    reference.propagate()
    weights = [reference.weight(i, int(told.steps[i])).detach() for i in range(world.nodes)]
    return torch.stack(weights)


@pytest.mark.parametrize("form", ["hidden", "class", "features"])
def test_features_are_what_a_small_change_of_one_does_to_the_answer(form: str) -> None:
    model, world, told = explained({"strategy": "l2b", "form": form})
    assert told.feature_index is not None
    assert told.feature_score is not None
    assert told.feature_index.shape == (world.nodes, 6)
    small = 1e-6
    node, best = 4, int(told.feature_index[4, 0])

    def answer(x: torch.Tensor) -> float:
        reference = Reference(model, 0, World.build(world.edges, x, world.labels))
        reference.propagate()
        logits = reference.classify(node, reference.h[0][node], dropped=False)
        return float((logits[int(told.predicted[node])] - logits.mean()).detach())

    x = world.x.clone()
    x[node, best] *= 1 + small
    assert (answer(x) - answer(world.x)) / small == pytest.approx(
        float(told.feature_score[node, 0]), rel=1e-3
    )
    strength = told.feature_score.abs()
    assert (strength.diff(dim=1) <= 0).all()


def test_sparse_features_are_explained_like_dense_ones() -> None:
    dense = load_graph("digits")
    dense = Graph.build("d", dense.edge_index, dense.features, dense.labels)
    sparse = Graph.build("s", dense.edge_index, dense.features.to_sparse_csr(), dense.labels)
    settings = [Settings(hidden=8, max_steps=3)]
    splits = make_splits(dense, "digits", "random-60-20-20", 1, 0)
    model = fit(dense, splits, [s.replace(epochs=2) for s in settings]).model
    told = [explain_nodes(model, Inputs.prepare(g, settings[0], CPU), g) for g in (dense, sparse)]
    for name in ("probabilities", "feature_score"):
        torch.testing.assert_close(getattr(told[0], name), getattr(told[1], name))


@pytest.mark.parametrize("backbone", ["appnp", "gcn", "gat", "gcnii", "sgc"])
def test_one_run_of_many_says_what_it_said_among_them(backbone: str, tmp_path: Path) -> None:
    graph = load_graph("csbm", options={"nodes": 60})
    splits = make_splits(graph, "csbm", "random-60-20-20", runs=2, seed=0)
    settings = [
        Settings.model_validate(
            {"backbone": backbone, "seed": r, "epochs": 3, "max_steps": 3, "hidden": 16}
        )
        for r in range(2)
    ]
    result = fit(graph, splits, settings)
    write_weights(tmp_path, result.model)
    single = build_model(graph.num_features, graph.num_classes, settings[1:], CPU)
    read_weights(tmp_path, single, run=1)
    told = explain_nodes(single, Inputs.prepare(graph, settings[1], CPU), graph)
    torch.testing.assert_close(told.final, result.nodes.probabilities[1], rtol=1e-4, atol=1e-6)
    assert torch.equal(told.steps, result.nodes.steps[1])
    assert told.priorities is not None
    torch.testing.assert_close(told.priorities, result.nodes.priorities[1], rtol=1e-4, atol=1e-6)


def test_a_rival_has_one_answer() -> None:
    graph = load_graph("csbm", options={"nodes": 60})
    splits = make_splits(graph, "csbm", "random-60-20-20", runs=1, seed=0)
    settings = [Settings(model="mlp", strategy="none", epochs=3, hidden=8)]
    result = fit(graph, splits, settings)
    told = explain_nodes(result.model, Inputs.prepare(graph, settings[0], CPU), graph)
    torch.testing.assert_close(told.final, result.nodes.probabilities[0])
    assert told.probabilities.shape[1] == 1
    assert told.decisions is told.drivers is told.feature_index is None
