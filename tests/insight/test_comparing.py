"""Explanations of controllers that compare: against the run itself, and against plain loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.data import load_graph, make_splits
from ppro.graph.core import Graph
from ppro.insight.comparing import OTHER_DRIVERS
from ppro.insight.explain import explain_nodes
from ppro.insight.explanation import Explanation
from ppro.insight.story import node_story
from ppro.nn.comparing.controllers import ComparingControllers
from ppro.nn.comparing.evidence import OF_NODE, OF_STEP, PLAIN
from ppro.nn.comparing.network import ComparingNetwork
from ppro.runs.tensors import read_weights, write_weights
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs
from ppro.training.fit import Fit, fit
from tests.insight.report.conftest import train
from tests.support import CPU

LAST = 3
COMPARING: dict[str, Any] = {
    **{"teaching": "compare", "judges": "folds", "judge_folds": 2, "max_steps": LAST},
    **{"epochs": 20, "hidden": 16, "controller_units": 8, "feature_norm": "none"},
    **{"lr_controller": 0.05, "warm_up": 5, "settle": 5},
}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("planted", options={"nodes": 120})


def trained(graph: Graph, tmp_path: Path, **changes: Any) -> tuple[Fit, Explanation]:
    """Two runs, and what the second of them says when it is opened alone."""
    chosen = {**COMPARING, **changes}
    settings = [Settings.model_validate({**chosen, "seed": run}) for run in range(2)]
    splits = make_splits(graph, "planted", "random-60-20-20", runs=2, seed=0)
    result = fit(graph, splits, settings)
    write_weights(tmp_path, result.model)
    single = build_model(graph.num_features, graph.num_classes, settings[1:], CPU)
    assert isinstance(single, ComparingNetwork)
    read_weights(tmp_path, single, run=1)
    return result, explain_nodes(single, prepare_inputs(graph, settings[1], CPU), graph)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
@pytest.mark.parametrize("backbone", ["appnp", "gcn", "gat"])
def test_one_run_of_many_says_what_it_said_among_them(
    graph: Graph, tmp_path: Path, strategy: str, backbone: str
) -> None:
    result, told = trained(graph, tmp_path, strategy=strategy, backbone=backbone)
    torch.testing.assert_close(told.final, result.nodes.probabilities[1], rtol=1e-3, atol=1e-5)
    assert torch.equal(told.steps, result.nodes.steps[1])
    assert told.priorities is not None
    torch.testing.assert_close(told.priorities, result.nodes.priorities[1], rtol=1e-3, atol=1e-5)
    assert told.probabilities.shape == (120, LAST + 1, graph.num_classes)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_decisions_say_where_a_node_stops(graph: Graph, tmp_path: Path, strategy: str) -> None:
    _, told = trained(graph, tmp_path, strategy=strategy)
    assert told.decisions is not None
    assert told.decisions.shape == (120, LAST)
    assert told.threshold == 0.5
    for node in range(graph.num_nodes):
        chances = [told.decision(node, k) for k in range(LAST + 1)]
        over = [k for k, chance in enumerate(chances) if chance is not None and chance > 0.5]
        if strategy == "l2b":
            assert chances[LAST] is None
            assert int(told.steps[node]) == (over[0] if over else LAST)
        else:
            assert chances[0] is None
            assert int(told.steps[node]) == (over[-1] if over else 0)


def test_evidence_is_what_its_names_say(graph: Graph, tmp_path: Path) -> None:
    result, told = trained(graph, tmp_path)
    model = result.model
    assert isinstance(model, ComparingNetwork)
    assert told.evidence is not None
    assert told.evidence_names == OF_STEP
    scale = model.controllers.scale[1].detach().double()
    scores = told.probabilities.double().log()
    p = (scores * scale.view(1, -1, 1)).softmax(-1)
    plain = told.probabilities.double()
    source, target = graph.edge_index.tolist()
    for node in range(0, graph.num_nodes, 7):
        around = [t for s, t in zip(source, target, strict=True) if s == node]
        for k in range(LAST + 1):
            own = p[node, k].tolist()
            second, first = sorted(own)[-2:]
            near = plain[around, k].mean(0) if around else torch.zeros(graph.num_classes)
            before = p[node, k - 1] if k else p[node, k]
            wanted = [
                first,
                first - second,
                -sum(q * math.log(q) for q in own if q > 0) / math.log(len(own)),
                float(p[node, k] @ near),
                float(near.max()),
                float((p[node, k] - before).abs().sum()) / 2,
                float(p[node, k] @ p[node, : k + 1].mean(0)),
                float(p[node, k] @ p[node, 0]),
            ]
            assert told.evidence[node, k].tolist() == pytest.approx(wanted, abs=1e-4)
    assert float(told.evidence.min()) >= 0
    assert float(told.evidence.max()) <= 1 + 1e-6


def test_every_number_of_the_evidence_has_a_name() -> None:
    assert len(OF_STEP) + len(OF_NODE) == PLAIN
    assert len(OTHER_DRIVERS) == PLAIN + 2


def test_drivers_are_what_a_small_change_of_the_evidence_does_to_the_priority(
    graph: Graph, tmp_path: Path
) -> None:
    from ppro.insight.attribution import comparing_drivers

    rngs = [torch.Generator().manual_seed(3)]
    controllers = ComparingControllers(rngs, 3, 4, LAST, 6).double()
    for parameter in (controllers.weight_head, controllers.bias):
        parameter.data.copy_(torch.randn(parameter.shape, generator=rngs[0]))
    x = torch.randn(1, 9, PLAIN + 3 + 8, generator=rngs[0], dtype=torch.float64)
    found = comparing_drivers(controllers, x, measures=3)[0]
    assert found.shape == (9, 3 + PLAIN + 2)
    places = [*range(PLAIN, PLAIN + 3), *range(PLAIN)]
    groups = [[i] for i in places]
    groups += [[*range(PLAIN + 3, PLAIN + 7)], [*range(PLAIN + 7, PLAIN + 11)]]
    small = 1e-6
    for column, group in enumerate(groups):
        more = x.clone()
        more[..., group] *= 1 + small
        slope = (controllers.weights(more) - controllers.weights(x)).detach()[0] / small
        torch.testing.assert_close(found[:, column], slope, rtol=1e-3, atol=1e-5)


def test_without_a_weight_controller_there_are_no_priorities(graph: Graph, tmp_path: Path) -> None:
    _, told = trained(graph, tmp_path, use_weighting=False)
    assert told.priorities is told.drivers is None
    assert told.decisions is not None


def test_a_story_tells_the_evidence_of_every_step(graph: Graph, tmp_path: Path) -> None:
    run = train(graph, tmp_path, **COMPARING)
    story = node_story(run, 3)
    assert story["decision"] == "break"
    assert [row["decision"] is None for row in story["by_step"]] == [False] * LAST + [True]
    assert list(story["by_step"][0]["evidence"]) == list(OF_STEP)
    names = [driver["name"] for driver in story["drivers"]]
    assert names[:3] == ["degree", "eigenvector centrality", "heterophily degree"]
    assert names[3:] == list(OTHER_DRIVERS)
    assert "Training scales them to mean 1" in " ".join(story["of_the_run"]["priorities"]["told"])
