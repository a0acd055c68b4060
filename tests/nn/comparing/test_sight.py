"""Backbones that look at some nodes see there what they see when they look at all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.nn.comparing import sight as sights
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.comparing.sight import Sight
from ppro.training.assembly import build_model
from tests.support import CPU, World, small_settings

NODES, CLASSES = 30, 3


def network(**changes: Any) -> tuple[ComparingNetwork, World]:
    """Two runs with two judges each, every backbone with weights of its own, in float64."""
    settings_ = [small_settings(teaching="compare", seed=seed, **changes) for seed in (0, 1)]
    made = build_model(6, CLASSES, settings_, CPU).double()
    assert isinstance(made, ComparingNetwork)
    made.add_judges(2)
    for parameter in made.theta():
        parameter.data += 0.3 * torch.randn(
            parameter.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64
        )
    return made, World.random(3, NODES, classes=CLASSES)


@pytest.mark.parametrize(
    "changes", [{}, {"form": "class"}, {"backbone": "gcn"}, {"backbone": "sgc"}], ids=str
)
def test_a_part_of_the_nodes_is_seen_as_among_all(changes: dict[str, Any]) -> None:
    made, world = network(**changes)
    whole = made.predictions(Sight.of_all(world.inputs, 6))

    @settings(deadline=None, max_examples=15)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        wanted = []
        for _ in range(data.draw(st.integers(1, 2))):
            m = data.draw(st.integers(1, 4))
            pick = st.lists(st.integers(0, NODES - 1), min_size=2 * m, max_size=2 * m)
            nodes = torch.tensor(data.draw(pick)).view(2, m)
            look = st.lists(st.integers(0, 2), min_size=2 * m, max_size=2 * m)
            backbone = made.own(nodes) + torch.tensor(data.draw(look)).view(2, m)
            wanted.append((nodes, backbone))
        some = made.predictions(Sight.of(world.inputs, 6, wanted))
        for nodes, backbone in wanted:
            pairs = zip(some.seen(nodes, backbone), whole.seen(nodes, backbone), strict=True)
            for part, full in pairs:
                torch.testing.assert_close(part, full)

    check()


def test_few_nodes_are_looked_at_where_few_are_asked_about() -> None:
    made, world = network()
    nodes = torch.tensor([[4], [9]])
    some = Sight.of(world.inputs, 6, [(nodes, made.own(nodes))])
    around = [int((world.a_hat[i] > 0).sum()) for i in (4, 9)]
    assert some.rows.nodes.shape == (6, max(around))
    assert made.predictions(some).scores.shape == (5, sum(around), CLASSES)


def test_where_most_are_asked_about_all_are_looked_at() -> None:
    made, world = network()
    nodes = torch.arange(NODES).expand(2, -1)
    assert Sight.of(world.inputs, 6, [(nodes, made.own(nodes))]).rows.whole


def neighbours(world: World, node: int) -> list[int]:
    return [j for j in range(world.nodes) if j != node and world.a_hat[node, j] > 0]


def mean_of(p: Tensor, nodes: list[int]) -> Tensor:
    return sum((p[j] for j in nodes), torch.zeros(CLASSES, dtype=torch.float64)) / len(nodes)


@pytest.mark.parametrize("most", [0.0, 2.0])
def test_scores_and_neighbours_node_by_node(most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sights, "MOST", most)
    made, world = network()
    nodes = torch.tensor([[1, 5, 8], [2, 2, 20]])
    look = made.own(nodes) + torch.tensor([[0, 1, 2], [2, 0, 1]])
    scores, near, z = made.predictions(Sight.of(world.inputs, 6, [(nodes, look)])).seen(nodes, look)
    p = dict(made.backbone.named_parameters())
    for run in range(2):
        for row in range(3):
            b, i = int(look[run, row]), int(nodes[run, row])
            h0 = torch.relu(world.x @ p["weight1"][b] + p["bias1"][b])
            h, apart = h0, (h0 - world.a_hat @ h0).norm(dim=1)
            for k in range(5):
                chances = (h @ p["output.weight"][b] + p["output.bias"][b]).softmax(-1)
                log_p = chances.log()
                centred = log_p[i] - log_p[i].mean()
                torch.testing.assert_close(scores[k, run, row], centred)
                expected = mean_of(chances, neighbours(world, i))
                torch.testing.assert_close(near[k, run, row], expected)
                h = 0.75 * world.a_hat @ h + 0.25 * h0
            torch.testing.assert_close(z[run, row, :2], world.inputs.influence[i])
            he = (apart[i] - apart.mean()) / apart.std(correction=0)
            torch.testing.assert_close(z[run, row, 2], he)
