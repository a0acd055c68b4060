"""Every network says whether the weights of edges count for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from ppro.graph.core import Graph
from ppro.nn.part import Part
from ppro.parts import BACKBONES, RIVALS
from tests.support import CPU, small_settings


def weighted_graph() -> Graph:
    nodes = torch.arange(12)
    edges = torch.cat([torch.stack([nodes, nodes.roll(k)]) for k in (1, 5)], dim=1)
    torch.manual_seed(0)
    weight = torch.rand(24) * 5 + 0.1
    return Graph.build("weights", edges, torch.rand(12, 5), nodes % 3, edge_weight=weight)


@pytest.mark.parametrize(
    "name", [f"backbone {n}" for n in BACKBONES] + [f"model {n}" for n in RIVALS]
)
def test_weights_count_as_the_part_says(name: str) -> None:
    from ppro.training.assembly import all_rows, build_model, prepare_inputs

    kind, _, word = name.partition(" ")
    part: type[Part] = (BACKBONES if kind == "backbone" else RIVALS).get(word)
    own: dict[str, Any] = {"consistency": 1.0} if word == "grand" else {}
    shape = {kind: word, "strategy": "none", "hidden": 6, "heads": 3, "max_steps": 2, **own}
    settings, graph = small_settings(**shape), weighted_graph()
    logits = []
    for one in (graph, replace(graph, edge_weight=None)):
        model = build_model(5, 3, [settings], CPU, None)
        with torch.no_grad():
            logits.append(model(prepare_inputs(one, settings, CPU), all_rows(one, 1, CPU)).logits)
    assert part.uses_weights is not torch.allclose(logits[0], logits[1], atol=1e-6)
