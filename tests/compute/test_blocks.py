from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.blocks import each_block, in_blocks, row_blocks
from tests.support import tensor64

ROWS = 40


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    assert torch.get_num_threads() == request.param
    torch.set_num_threads(before)


@given(st.integers(0, 50), st.integers(1, 60))
def test_blocks_cover_the_rows_in_order(rows: int, size: int) -> None:
    covered = [row for block in row_blocks(rows, size) for row in range(block.start, block.stop)]
    assert covered == list(range(rows))


def test_results_come_in_the_order_of_the_blocks() -> None:
    assert each_block(lambda block: block.start, row_blocks(100, 7)) == list(range(0, 100, 7))


def test_an_error_in_a_block_is_raised() -> None:
    def work(block: slice) -> None:
        if block.start == 14:
            raise ValueError("block 2")

    with pytest.raises(ValueError, match="block 2"):
        each_block(work, row_blocks(100, 7))


@settings(deadline=None, max_examples=25)
@given(st.integers(1, ROWS + 3), st.integers(0, 10**6))
def test_in_blocks_has_the_values_and_gradients_of_one_pass(size: int, seed: int) -> None:
    x, back = tensor64(2, ROWS, 5, seed=seed), tensor64(2, ROWS, 3, seed=seed + 1)
    weight, bias, unused = (
        tensor64(*shape, seed=seed + 2).requires_grad_() for shape in ((5, 3), (3,), (2,))
    )

    def compute(rows: slice) -> Tensor:
        return torch.relu(x[:, rows] @ weight + bias)

    found = in_blocks(compute, ROWS, size, [weight, bias, unused])
    expected = compute(slice(0, ROWS))
    torch.testing.assert_close(found, expected)
    inputs = [weight, bias]
    torch.testing.assert_close(
        torch.autograd.grad((found * back).sum(), inputs),
        torch.autograd.grad((expected * back).sum(), inputs),
    )


def test_parameters_that_want_no_gradient_get_none() -> None:
    x, fixed = tensor64(1, ROWS, 2), tensor64(2, 2)
    learnt = tensor64(2).requires_grad_()
    out = in_blocks(lambda rows: x[:, rows] @ fixed * learnt, ROWS, 7, [fixed, learnt])
    out.sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(learnt.grad, (x @ fixed).sum((0, 1)))
    assert fixed.grad is None
