from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ppro.compute import dense
from ppro.compute.dense import (
    NARROW,
    added_product,
    adjoint_product,
    matrix_product,
    product,
)
from ppro.compute.layers import RunLinear, generators
from tests.support import tensor64

HAS_ONEDNN = pytest.mark.skipif(dense._ONEDNN is None, reason="this PyTorch has no oneDNN")


@pytest.mark.parametrize("width", [1, 3, NARROW - 1, NARROW, NARROW + 1])
@pytest.mark.parametrize("many", [1, 100])
def test_a_layer_is_the_naive_sum_with_its_gradients(
    width: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Narrow layers of many rows are made as transposes; sums are the same but for their order."""
    monkeypatch.setattr(dense, "MANY_ROWS", many)
    monkeypatch.setattr(dense, "LEAST_WORK", 1)
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
    monkeypatch.setattr(dense, "MANY_ROWS", 1)
    monkeypatch.setattr(dense, "LEAST_WORK", 1)
    layer, x = RunLinear(generators([0]), 3, 2).double(), tensor64(1, 4, 3).requires_grad_()
    weight, bias = (p.detach().requires_grad_() for p in layer.parameters())

    def work(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))
        assert isinstance(out, Tensor)
        return out.tanh()

    assert torch.autograd.gradgradcheck(work, (x, weight, bias))


def _error(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@HAS_ONEDNN
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("width", [1, 7, 64])
def test_products_in_single_precision_are_within_rounding_of_float64(runs: int, width: int) -> None:
    x, weight = tensor64(runs, 3000, 40, seed=1), tensor64(runs, 40, width, seed=2)
    bias, g = tensor64(runs, width, seed=3), tensor64(runs, 3000, width, seed=4)

    def made(*given: Tensor) -> list[Tensor]:
        own = [part.detach().requires_grad_() for part in given[:3]]
        out = product(*own)
        return [out.detach(), *torch.autograd.grad(out, own, given[3])]

    expected = made(x, weight, bias, g)
    for a, b in zip(made(*(t.float() for t in (x, weight, bias, g))), expected, strict=True):
        assert a.dtype == torch.float32
        assert _error(a, b) < 3e-6


@HAS_ONEDNN
def test_a_run_has_the_same_product_alone_and_in_a_batch() -> None:
    x, weight = tensor64(3, 3000, 40).float(), tensor64(3, 40, 16, seed=1).float()
    together = product(x, weight)
    for run in range(3):
        one = slice(run, run + 1)
        assert torch.equal(product(x[one], weight[one])[0], together[run])


@HAS_ONEDNN
def test_strides_of_the_operands_do_not_matter() -> None:
    wide, weight = tensor64(2, 3000, 80).float(), tensor64(2, 16, 40, seed=1).float()
    x, turned = wide[:, :, :40], weight.transpose(1, 2)
    expected = torch.bmm(x.double(), turned.double())
    assert _error(product(x, turned), expected) < 1e-6
    shared = x[:1].expand(2, -1, -1)
    expected = torch.bmm(shared.double(), turned.double())
    assert _error(product(shared, turned), expected) < 1e-6


@HAS_ONEDNN
@pytest.mark.parametrize("rows", [3000, 1])
def test_a_total_is_added(rows: int) -> None:
    total = tensor64(2, rows, 16, seed=2)
    x, weight = tensor64(2, 3000, 40), tensor64(2, 40, 16, seed=1)
    found = added_product(total.float(), x.float(), weight.float())
    assert _error(found, total + torch.bmm(x, weight)) < 1e-6
    torch.testing.assert_close(added_product(total, x, weight), total + torch.bmm(x, weight))


def test_a_product_of_one_run_needs_no_run_dimension() -> None:
    x, weight = tensor64(3000, 40), tensor64(40, 16, seed=1)
    assert _error(matrix_product(x.float(), weight.float()), x @ weight) < 1e-6
    torch.testing.assert_close(matrix_product(x, weight), x @ weight)


def test_a_gradient_of_weights_needs_no_run_dimension() -> None:
    x, g = tensor64(3000, 40), tensor64(3000, 16, seed=1)
    assert _error(adjoint_product(x.float(), g.float()), x.t() @ g) < 1e-6
    torch.testing.assert_close(adjoint_product(x, g), x.t() @ g)


def test_without_onednn_the_library_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_ONEDNN", None)
    x, weight = tensor64(2, 3000, 40).float(), tensor64(2, 40, 32, seed=1).float()
    assert torch.equal(product(x, weight), torch.bmm(x, weight))
    assert torch.equal(matrix_product(x[0], weight[0]), torch.mm(x[0], weight[0]))
