from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ppro.compute import layers
from ppro.compute.layers import NARROW, RunLinear, generators, glorot
from tests.support import tensor64


def test_a_run_starts_with_the_same_weights_alone_and_in_a_batch() -> None:
    batch = glorot(generators([3, 9, 27]), 5, 4)
    for run, seed in enumerate((3, 9, 27)):
        assert torch.equal(glorot(generators([seed]), 5, 4)[0], batch[run])
    assert not torch.equal(batch[0], batch[1])


def test_glorot_weights_lie_within_the_bound() -> None:
    weight = glorot(generators([0]), 200, 100).detach()
    bound = (6 / 300) ** 0.5
    assert 0.99 * bound < float(weight.abs().max()) <= bound


def test_each_run_has_its_own_linear_layer() -> None:
    layer = RunLinear(generators([0, 1]), 3, 2).double()
    layer.bias.data.copy_(tensor64(2, 2))
    x = tensor64(2, 4, 3)
    for run in range(2):
        expected = x[run] @ layer.weight[run] + layer.bias[run]
        torch.testing.assert_close(layer(x)[run], expected)


@pytest.mark.parametrize("width", [1, 3, NARROW - 1, NARROW, NARROW + 1])
@pytest.mark.parametrize("many", [1, 100])
def test_a_layer_is_the_naive_sum_with_its_gradients(
    width: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Narrow layers of many rows are made as transposes; sums are the same but for their order."""
    monkeypatch.setattr(layers, "MANY_ROWS", many)
    layer = RunLinear(generators([0, 1]), 5, width).double()
    layer.bias.data.copy_(tensor64(2, width))
    x, g = tensor64(2, 4, 5, seed=1).requires_grad_(), tensor64(2, 4, width, seed=2)
    found = layer(x)
    assert found.is_contiguous()
    of_x, of_weight, of_bias = torch.autograd.grad(found, [x, layer.weight, layer.bias], g)
    for r in range(2):
        for j in range(width):
            for i in range(4):
                total = sum(
                    float(x.detach()[r, i, a]) * float(layer.weight.detach()[r, a, j])
                    for a in range(5)
                )
                assert float(found.detach()[r, i, j]) == pytest.approx(
                    total + float(layer.bias.detach()[r, j])
                )
            for a in range(5):
                total = sum(float(x.detach()[r, i, a]) * float(g[r, i, j]) for i in range(4))
                assert float(of_weight[r, a, j]) == pytest.approx(total)
    torch.testing.assert_close(of_x, g @ layer.weight.detach().transpose(1, 2))
    torch.testing.assert_close(of_bias, g.sum(1))


@pytest.mark.parametrize("rows", [300, 3000])
def test_a_narrow_layer_in_float32_is_within_rounding_of_float64(rows: int) -> None:
    layer = RunLinear(generators([0, 1]), 64, 7)
    x, g = tensor64(2, rows, 64, seed=1), tensor64(2, rows, 7, seed=2)

    def made(x: Tensor, g: Tensor) -> list[Tensor]:
        out = layer(x)
        return [out.detach(), *torch.autograd.grad(out, list(layer.parameters()), g)]

    found = made(x.float(), g.float())
    layer.double()
    expected = made(x, g)
    for a, b in zip(found, expected, strict=True):
        assert float((a - b).norm() / b.norm()) < 1e-6


def test_a_narrow_layer_can_be_derived_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "MANY_ROWS", 1)
    layer, x = RunLinear(generators([0]), 3, 2).double(), tensor64(1, 4, 3).requires_grad_()
    weight, bias = (p.detach().requires_grad_() for p in layer.parameters())

    def work(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))
        assert isinstance(out, Tensor)
        return out.tanh()

    assert torch.autograd.gradgradcheck(work, (x, weight, bias))
