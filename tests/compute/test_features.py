from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

from ppro.compute import feature_products
from ppro.compute.features import FEATURE_SITE, Features, row_normalised, unit_rows
from ppro.compute.noise import Noise, matrix_ids
from tests.support import noise_of, tensor64

NODES, COLUMNS, RUNS, WIDTH = 9, 6, 3, 4
NOISE = noise_of([3, 1, 4], [0.25, 0.5, 0.75], 7)


def sparse_x(seed: int = 0) -> Tensor:
    x = tensor64(NODES, COLUMNS, seed=seed)
    x = torch.where(x > 0.2, x, 0.0)
    x[4] = 0
    return x


def features(x: Tensor, layout: str) -> Features:
    with pytest.MonkeyPatch.context() as patch:
        # Zeros are not to make a dense matrix a sparse one.
        patch.setattr(feature_products, "SPARSE_BELOW", 0.0)
        return Features(x.to_sparse_csr() if layout == "sparse" else x)


def expected_linear(x: Tensor, weight: Tensor, noise: Noise | None) -> Tensor:
    """dropout(X) W, run by run, with a dense mask."""
    out = []
    for run in range(weight.shape[0]):
        kept = torch.ones_like(x)
        if noise is not None:
            ids = matrix_ids(torch.arange(x.shape[0]), x.shape[1]).unsqueeze(0)
            kept = noise.scale(ids, FEATURE_SITE)[run].double()
        out.append((x * kept) @ weight[run])
    return torch.stack(out)


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("noise", [None, NOISE], ids=["plain", "dropped"])
def test_linear_and_its_gradient_are_those_of_a_dense_product(
    layout: str, noise: Noise | None
) -> None:
    x, weight = sparse_x(), tensor64(RUNS, COLUMNS, WIDTH, seed=1).requires_grad_()
    found, expected = features(x, layout).linear(weight, noise), expected_linear(x, weight, noise)
    torch.testing.assert_close(found, expected)
    back = tensor64(RUNS, NODES, WIDTH, seed=2)
    torch.testing.assert_close(
        torch.autograd.grad((found * back).sum(), weight),
        torch.autograd.grad((expected * back).sum(), weight),
    )


@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_linear_passes_gradcheck(layout: str) -> None:
    x = features(sparse_x(), layout)
    weight = tensor64(RUNS, COLUMNS, WIDTH).requires_grad_()
    assert gradcheck(lambda w: x.linear(w, NOISE), (weight,))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 2**31 - 1), st.integers(0, 10**4))
def test_sparse_and_dense_features_draw_the_same_mask(
    data_seed: int, seed: int, moment: int
) -> None:
    x, noise = sparse_x(data_seed), noise_of([seed], 0.5, moment)
    identity = torch.eye(COLUMNS, dtype=torch.float64).unsqueeze(0)
    dropped = [features(x, layout).linear(identity, noise) for layout in ("sparse", "dense")]
    assert torch.equal(dropped[0], dropped[1])
    assert set((dropped[0][0] / x)[x != 0].tolist()) <= {0.0, 2.0}


def test_a_run_gets_the_same_alone_and_in_a_batch() -> None:
    x, weight = features(sparse_x(), "sparse"), tensor64(RUNS, COLUMNS, WIDTH)
    batch = x.linear(weight, NOISE)
    for run, (seed, rate) in enumerate(((3, 0.25), (1, 0.5), (4, 0.75))):
        alone = x.linear(weight[run : run + 1], noise_of([seed], rate, 7))
        torch.testing.assert_close(alone[0], batch[run])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_rows_sum_to_one_and_empty_rows_stay(seed: int) -> None:
    x = sparse_x(seed)
    expected = torch.zeros_like(x)
    for i in range(NODES):
        total = sum(float(v) for v in x[i])
        for j in range(COLUMNS):
            expected[i, j] = float(x[i, j]) / (total or 1.0)
    torch.testing.assert_close(row_normalised(x), expected)
    torch.testing.assert_close(row_normalised(x.to_sparse_csr()).to_dense(), expected)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_rows_have_length_one_whatever_their_scale(seed: int, scale: float) -> None:
    x = sparse_x(seed).double()
    expected = torch.zeros_like(x)
    for i in range(NODES):
        length = sum(float(v) ** 2 for v in x[i]) ** 0.5
        for j in range(COLUMNS):
            expected[i, j] = float(x[i, j]) / (length or 1.0)
    torch.testing.assert_close(unit_rows(scale * x), expected)
    torch.testing.assert_close(unit_rows((scale * x).to_sparse_csr()).to_dense(), expected)


@pytest.mark.parametrize(("share", "sparse"), [(0.2, True), (0.45, True), (0.55, False)])
def test_products_are_chosen_by_what_is_filled_not_by_how_it_is_stored(
    share: float, sparse: bool
) -> None:
    """Few entries that are not zero make a sparse product, with the same dropout, close by."""
    values = torch.rand(200, generator=torch.Generator().manual_seed(4))
    x = (values * (torch.arange(200) < share * 200)).view(20, 10)
    stored_dense, stored_sparse = Features(x), Features(x.to_sparse_csr())
    assert (stored_dense.forward.matrix.layout == torch.sparse_csr) is sparse
    assert torch.equal(stored_dense.dense, x)
    weight, noise = torch.rand(2, 10, 3), noise_of([1, 2], 0.5, 3)
    for drawn in (None, noise):
        found, other = (f.linear(weight, drawn) for f in (stored_dense, stored_sparse))
        torch.testing.assert_close(found, other)
    gradient = torch.rand(2, 20, 3)
    found, other = (f.adjoint.product(gradient, noise) for f in (stored_dense, stored_sparse))
    torch.testing.assert_close(found, other)


def count_products(x: Features, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that grows by one with every product with X."""
    made: list[None] = []
    product = x.forward.product

    def counted(right: Tensor, noise: Noise | None) -> Tensor:
        made.append(None)
        return product(right, noise)

    monkeypatch.setattr(x.forward, "product", counted)
    return made


@pytest.mark.parametrize("noise", [None, noise_of([3, 1, 4], 0.0, 7)], ids=["none", "rate 0"])
def test_what_is_asked_again_without_dropout_is_computed_once(
    noise: Noise | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = features(sparse_x(), "sparse")
    made = count_products(x, monkeypatch)
    weight = tensor64(RUNS, COLUMNS, WIDTH, seed=1).requires_grad_()
    for epoch in range(1, 4):
        learned = x.linear(weight, noise)
        torch.testing.assert_close(learned, expected_linear(sparse_x(), weight, None))
        (gradient,) = torch.autograd.grad(learned.square().sum(), weight)
        with torch.no_grad():
            weight -= 0.1 * gradient
            second, validated = x.linear(weight, noise), x.linear(weight, None)
        assert torch.equal(second, validated)
        torch.testing.assert_close(second, expected_linear(sparse_x(), weight, None).detach())
        # The second pass is computed; validation and the next epoch take it from there.
        assert len(made) == 1 + epoch


def test_training_with_dropout_keeps_no_product(monkeypatch: pytest.MonkeyPatch) -> None:
    x = features(sparse_x(), "sparse")
    made = count_products(x, monkeypatch)
    weight = tensor64(RUNS, COLUMNS, WIDTH, seed=1).requires_grad_()
    for _ in range(2):
        x.linear(weight, NOISE)
        with torch.no_grad():
            x.linear(weight, None)
    assert len(made) == 4
    assert x._kept._of_layer == {}
