from __future__ import annotations

import torch

from ppro.compute.layers import RunLinear, generators, glorot
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
