from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.layers import generators
from ppro.nn.controller_blocks import BlockedControllers
from ppro.nn.controllers import Controllers
from tests.support import tensor64

ROWS, WIDTH = 31, 4


def pair(size: int, *, progress: bool = False) -> tuple[Controllers, BlockedControllers]:
    plain = Controllers(
        generators([0, 1]), WIDTH, 7, [0.1, -0.2], "softplus", progress=progress
    ).double()
    blocked = BlockedControllers.of(plain)
    blocked.many_rows, blocked.block_rows = 1, size
    return plain, blocked


def outputs(controllers: Controllers, with_z: bool, progress: bool, best: bool) -> list[Tensor]:
    h0, h, aggregate, other = (tensor64(2, ROWS, WIDTH, seed=seed) for seed in range(4))
    z = tensor64(2, ROWS, 3, seed=5) if with_z else None
    shared = controllers.shared(h0, z)
    shown = tensor64(2, ROWS, 2, seed=6) if progress else None
    p = controllers.probability(shared, h, aggregate, other if best else None, shown)
    return [p, controllers.weight(shared, h, tensor64(2, ROWS, seed=7).abs())]


@settings(deadline=None, max_examples=25)
@given(st.integers(1, ROWS + 2), st.booleans(), st.booleans(), st.booleans())
def test_blocks_say_what_all_rows_together_say(
    size: int, with_z: bool, progress: bool, best: bool
) -> None:
    plain, blocked = pair(size, progress=progress)
    expected, found = (outputs(c, with_z, progress, best) for c in (plain, blocked))
    torch.testing.assert_close(found, expected)
    back = [tensor64(2, ROWS, seed=8), tensor64(2, ROWS, seed=9)]
    gradients = [
        torch.autograd.grad(
            (back[0] * outs[0]).sum() + (back[1] * outs[1]).sum(),
            list(plain.parameters()),
            materialize_grads=True,
            allow_unused=True,
        )
        for outs in (found, expected)
    ]
    torch.testing.assert_close(gradients[0], gradients[1])


@pytest.mark.parametrize("progress", [False, True])
def test_the_parameters_keep_names_order_and_identity(progress: bool) -> None:
    plain, blocked = pair(3, progress=progress)
    one, other = dict(plain.named_parameters()), dict(blocked.named_parameters())
    assert list(one) == list(other)
    assert all(one[name] is other[name] for name in one)


def test_for_many_rows_the_first_layer_is_not_stored() -> None:
    plain, blocked = pair(5)
    h0, z = tensor64(2, ROWS, WIDTH), tensor64(2, ROWS, 3)
    assert blocked.shared(h0, z).shape[-1] == WIDTH + 3
    blocked.many_rows = ROWS
    assert torch.equal(blocked.shared(h0, z), plain.shared(h0, z))
