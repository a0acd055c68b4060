from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute import sparse
from ppro.compute.sparse import compact, csr, multiply, row_indices, transpose, with_values
from tests.support import tensor64

sizes = st.integers(1, 7)
seeds = st.integers(0, 10**6)


def random_csr(rows: int, columns: int, seed: int) -> Tensor:
    """About a third of the entries; some rows have none."""
    dense = tensor64(rows, columns, seed=seed)
    return torch.where(dense > 0.4, dense, 0.0).to_sparse_csr()


def dense_product(matrix: Tensor, values: Tensor | None, h: Tensor) -> Tensor:
    """M_r h_r entry by entry."""
    out = torch.zeros(h.shape[0], matrix.shape[0], h.shape[2], dtype=torch.float64)
    places = list(zip(row_indices(matrix).tolist(), matrix.col_indices().tolist(), strict=True))
    for run in range(h.shape[0]):
        weights = matrix.values() if values is None else values[run]
        for entry, (i, j) in enumerate(places):
            out[run, i] += float(weights[entry]) * h[run, j].double()
    return out


# In single precision wide and narrow embeddings take different kernels.
@settings(deadline=None, max_examples=60)
@given(
    shape=st.tuples(sizes, sizes),
    width=st.sampled_from([1, 3, 15, 16, 17, 64]),
    runs=st.integers(1, 3),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    own_values=st.booleans(),
    mixed=st.booleans(),
    alpha=st.sampled_from([1.0, 0.7]),
    seed=seeds,
)
def test_multiply_is_the_dense_product_of_every_run(
    shape: tuple[int, int],
    width: int,
    runs: int,
    dtype: torch.dtype,
    own_values: bool,
    mixed: bool,
    alpha: float,
    seed: int,
) -> None:
    rows, columns = shape
    matrix = compact(random_csr(rows, columns, seed).to(dtype))
    nnz = matrix.values().shape[0]
    values = tensor64(runs, nnz, seed=seed + 1).to(dtype) if own_values else None
    h = tensor64(runs, columns, width, seed=seed + 2).to(dtype)
    other = tensor64(runs, rows, width, seed=seed + 3).to(dtype) if mixed else None
    expected = alpha * dense_product(matrix, values, h)
    if other is not None:
        expected = expected + 0.3 * other.double()
    # A buffer full of NaN shows whether it is read.
    for out in (None, torch.full((runs, rows, width), torch.nan, dtype=dtype)):
        found = multiply(matrix, h, values=values, alpha=alpha, other=other, beta=0.3, out=out)
        tolerance = 1e-12 if dtype == torch.float64 else 1e-5
        torch.testing.assert_close(found.double(), expected, atol=tolerance, rtol=tolerance)
        assert out is None or found.data_ptr() == out.data_ptr()


@pytest.mark.parametrize("width", [4, 32])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_matrix_without_entries_gives_zeros(width: int, dtype: torch.dtype) -> None:
    matrix = compact(torch.zeros(3, 2, dtype=dtype).to_sparse_csr())
    h, other = tensor64(2, 2, width).to(dtype), tensor64(2, 3, width, seed=1).to(dtype)
    out = torch.full((2, 3, width), torch.nan, dtype=dtype)
    assert not bool(multiply(matrix, h, out=out).any())
    torch.testing.assert_close(multiply(matrix, h, other=other, beta=0.5), 0.5 * other)


@settings(deadline=None, max_examples=20)
@given(sizes, sizes, seeds)
def test_transpose_is_the_transpose_and_says_where_entries_came_from(
    rows: int, columns: int, seed: int
) -> None:
    matrix = random_csr(rows, columns, seed)
    turned, order = transpose(matrix)
    assert torch.equal(turned.to_dense(), matrix.to_dense().T)
    assert torch.equal(turned.values(), matrix.values()[order])
    assert torch.equal(row_indices(matrix)[order], turned.col_indices().long())


def test_with_values_keeps_the_pattern_and_the_original() -> None:
    matrix = random_csr(4, 5, 0)
    before = matrix.to_dense()
    doubled = with_values(matrix, 2 * matrix.values())
    assert torch.equal(doubled.to_dense(), 2 * before)
    assert torch.equal(matrix.to_dense(), before)


def test_csr_compact_and_row_indices_hold_the_same_matrix() -> None:
    matrix = random_csr(6, 4, 3)
    rows, columns = matrix.to_dense().nonzero(as_tuple=True)
    rebuilt = csr(rows, columns, matrix.values(), (6, 4))
    assert torch.equal(rebuilt.to_dense(), matrix.to_dense())
    small = compact(matrix)
    assert small.col_indices().dtype == torch.int32
    assert torch.equal(small.to_dense(), matrix.to_dense())
    assert torch.equal(row_indices(matrix), rows)


@settings(deadline=None, max_examples=40)
@given(
    sizes,
    seeds,
    st.sampled_from([1, 3, 7, 10, 16, 17]),
    st.integers(1, 9),
    st.sampled_from([None, 0.3]),
)
def test_a_huge_product_in_blocks_of_rows_is_the_same(
    rows: int, seed: int, width: int, block: int, share: float | None
) -> None:
    matrix = compact(random_csr(rows, rows, seed)).to(torch.float32)
    h, other = (tensor64(2, rows, width, seed=s).float() for s in (seed + 1, seed + 2))
    mixed = {} if share is None else {"alpha": 1 - share, "other": other, "beta": share}
    expected = multiply(matrix, h, **mixed)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "LARGE", 1)
        patch.setattr(sparse, "HUGE", 1)
        patch.setattr(sparse, "BLOCK_ROWS", block)
        found = multiply(matrix, h, **mixed)  # type: ignore[arg-type]
        torch.testing.assert_close(found, expected)
        # Where rows lie in memory changes no bit.
        patch.setattr(sparse, "_in_lines", lambda h: h)
        assert torch.equal(multiply(matrix, h, **mixed), found)  # type: ignore[arg-type]
