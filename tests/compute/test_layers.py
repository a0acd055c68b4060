from __future__ import annotations

import pytest
import torch

from ppro.compute.layers import RunBatchNorm, RunLinear, generators, glorot
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


@pytest.mark.parametrize("runs", [1, 3])
def test_statistics_of_all_rows_are_those_of_a_part_that_is_all(runs: int) -> None:
    """The kernel for all rows and the formula for some of them agree, and remember the same."""
    x = tensor64(runs, 50, 4, seed=1).requires_grad_()
    found = []
    for batch in (slice(None), slice(0, 50)):
        norm = RunBatchNorm(generators(range(runs)), 4).double()
        norm.weight.data.copy_(tensor64(runs, 4, seed=2))
        norm.bias.data.copy_(tensor64(runs, 4, seed=3))
        out = norm(x, batch)
        gradients = torch.autograd.grad(
            out, [x, norm.weight, norm.bias], tensor64(runs, 50, 4, seed=4)
        )
        found.append([out.detach(), *gradients, norm.mean.detach(), norm.variance.detach()])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b)


def test_a_pass_without_gradient_remembers_no_statistics() -> None:
    norm = RunBatchNorm(generators([0]), 4).double()
    with torch.no_grad():
        norm(tensor64(1, 50, 4), slice(None))
    assert float(norm.mean.detach().abs().max()) == 0
