from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric import nn as pyg

from ppro.nn.rivals.gprgnn import GPRGNN
from ppro.training.assembly import build_model
from tests.support import CPU, World, dense_normalised, small_settings, tensor64

DEPTH = 3


def made(**changes: object) -> GPRGNN:
    runs = [small_settings(model="gprgnn", max_steps=DEPTH, seed=s, **changes) for s in (0, 1)]
    model = build_model(6, 3, runs, CPU).double()
    assert isinstance(model, GPRGNN)
    return model


def scores(model: GPRGNN, x: Tensor, run: int) -> Tensor:
    h = torch.relu(x @ model.weight1[run] + model.bias1[run])
    return (h @ model.output.weight[run] + model.output.bias[run]).detach()


@pytest.mark.parametrize("run", [0, 1])
def test_logits_are_the_sum_over_powers(run: int) -> None:
    world, model = World.random(5, nodes=20), made()
    model.gamma.data.copy_(tensor64(2, DEPTH + 1, seed=8))
    power, expected = torch.eye(20, dtype=torch.float64), torch.zeros(20, 3, dtype=torch.float64)
    for k in range(DEPTH + 1):
        expected += model.gamma[run, k].detach() * power @ scores(model, world.x, run)
        power = dense_normalised(world.edges, 20) @ power
    found = model(world.inputs, world.all_rows(2)).logits[run]
    torch.testing.assert_close(found.detach(), expected)


@pytest.mark.parametrize("alpha", [0.1, 0.9])
def test_untrained_it_is_appnp(alpha: float) -> None:
    world, model = World.random(6, nodes=20), made(alpha=alpha)
    layer = pyg.APPNP(DEPTH, alpha)
    expected = layer(scores(model, world.x, 1), world.edges)
    found = model(world.inputs, world.all_rows(2)).logits[1]
    torch.testing.assert_close(found.detach(), expected, atol=1e-6, rtol=1e-6)


def test_gamma_never_decays() -> None:
    model = made()
    kept = {id(p) for p in model.theta()} - {id(p) for p in model.decayed()}
    assert kept == {id(model.gamma)}
