from __future__ import annotations

import pytest
import torch

from ppro.nn.rivals.dagnn import DAGNN
from ppro.training.assembly import build_model
from tests.support import CPU, World, dense_normalised, small_settings, tensor64

DEPTH = 3


def made() -> DAGNN:
    runs = [small_settings(model="dagnn", max_steps=DEPTH, seed=s) for s in (0, 1)]
    model = build_model(6, 3, runs, CPU).double()
    assert isinstance(model, DAGNN)
    for index, p in enumerate(model.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index))
    return model


@pytest.mark.parametrize("run", [0, 1])
def test_logits_node_by_node(run: int) -> None:
    world, model = World.random(5, nodes=15), made()
    p = {name: value[run].detach() for name, value in model.named_parameters()}
    z = torch.relu(world.x @ p["weight1"] + p["bias1"]) @ p["output.weight"] + p["output.bias"]
    hops = [z]
    for _ in range(DEPTH):
        hops.append(dense_normalised(world.edges, 15) @ hops[-1])
    found = model(world.inputs, world.all_rows(2)).logits[run].detach()
    for i in range(15):
        gates = [torch.sigmoid(h[i] @ p["gate.weight"][:, 0] + p["gate.bias"]) for h in hops]
        expected = sum((g * h[i] for g, h in zip(gates, hops, strict=True)), torch.zeros(3))
        torch.testing.assert_close(found[i], expected.double())


def test_closed_gates_say_nothing() -> None:
    world, model = World.random(6), made()
    model.gate.weight.data.zero_()
    model.gate.bias.data.fill_(-1e3)
    assert not model(world.inputs, world.all_rows(2)).logits.any()
