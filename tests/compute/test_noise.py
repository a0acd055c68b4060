from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute import cpu_noise, noise
from ppro.compute.noise import element_ids, matrix_ids
from tests.support import noise_of

SIDE = 512
CHI_SQUARE_255 = 377.0
"""A uniform byte passes it once in a million: 99.9999 % quantile with 255 degrees of freedom."""


def mask(seed: int = 0, moment: int = 0, site: int = 0, rate: float = 0.5) -> Tensor:
    """What is kept of a square matrix."""
    ids = matrix_ids(torch.arange(SIDE), SIDE).unsqueeze(0)
    return noise_of([seed], rate, moment).scale(ids, site)[0] > 0


def chi_square(bits: Tensor) -> float:
    """Of the bytes made of eight successive bits along the last dimension."""
    packed = np.packbits(bits.reshape(-1, 8).numpy(), axis=1)
    counts = np.bincount(packed.reshape(-1), minlength=256)
    expected = packed.size / 256
    return float(((counts - expected) ** 2 / expected).sum())


def correlation(a: Tensor, b: Tensor) -> float:
    stacked = torch.stack([a.reshape(-1), b.reshape(-1)]).double()
    return abs(float(torch.corrcoef(stacked)[0, 1]))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("site", [0, 1])
def test_the_rate_is_respected(rate: float, site: int) -> None:
    count = SIDE * SIDE
    dropped = int((~mask(site=site, rate=rate)).sum())
    # Five standard deviations of a binomial; at rate 0 nothing may be dropped.
    assert abs(dropped - rate * count) <= 5 * (count * rate * (1 - rate)) ** 0.5


def test_what_is_kept_is_scaled_so_that_the_mean_stays() -> None:
    ids = matrix_ids(torch.arange(SIDE), SIDE).unsqueeze(0)
    scale = noise_of([3], 0.75, 0).scale(ids, 0)
    assert sorted(set(scale.reshape(-1).tolist())) == [0.0, 4.0]
    assert float(scale.mean()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    "other",
    [
        *({"moment": m} for m in (1, 2, 3, 1000)),
        *({"seed": s} for s in (1, 2, 3, 1000, 2**31 - 1)),
        {"site": 1},
    ],
    ids=str,
)
def test_masks_of_other_moments_seeds_and_sites_are_unrelated(other: dict[str, int]) -> None:
    # Five standard deviations of the correlation of independent masks.
    assert correlation(mask(), mask(**other)) < 5 / SIDE


@pytest.mark.parametrize("shift", [1, 2, 8, 64])
def test_neighbouring_elements_are_unrelated(shift: int) -> None:
    kept = mask(seed=7)
    assert correlation(kept[:, shift:], kept[:, :-shift]) < 5 / (SIDE - shift)
    assert correlation(kept[shift:], kept[:-shift]) < 5 / (SIDE - shift)
    assert correlation(kept, kept.T) < 5 / SIDE


@pytest.mark.parametrize("moment", [0, 1, 999])
def test_bytes_along_rows_and_columns_are_uniform(moment: int) -> None:
    kept = mask(seed=11, moment=moment)
    assert chi_square(kept) < CHI_SQUARE_255
    assert chi_square(kept.T) < CHI_SQUARE_255


def test_bytes_along_moments_seeds_and_sites_are_uniform() -> None:
    for name in ("moment", "seed", "site"):
        bits = torch.stack([mask(**{name: value}) for value in range(8)], dim=-1)
        assert chi_square(bits) < CHI_SQUARE_255, name


def test_no_row_or_column_is_dropped_much_more_than_the_others() -> None:
    kept = mask(seed=5).double()
    bound = 6 * 0.5 / SIDE**0.5
    assert float((kept.mean(0) - 0.5).abs().max()) < bound
    assert float((kept.mean(1) - 0.5).abs().max()) < bound


def test_a_run_draws_the_same_mask_alone_and_in_a_batch() -> None:
    ids = matrix_ids(torch.arange(40), 30).unsqueeze(0)
    seeds, rates = [5, 0, 77], [0.1, 0.5, 0.9]
    batch = noise_of(seeds, rates, 4).scale(ids, 1)
    for run, (seed, rate) in enumerate(zip(seeds, rates, strict=True)):
        assert torch.equal(noise_of([seed], rate, 4).scale(ids, 1)[0], batch[run])


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(0, 99), min_size=1, max_size=20),
    st.integers(0, 2**31 - 1),
    st.integers(0, 10**6),
    st.floats(0, 0.99),
)
def test_a_mask_does_not_depend_on_which_rows_are_asked(
    rows: list[int], seed: int, moment: int, rate: float
) -> None:
    noise, asked = noise_of([seed], rate, moment), torch.tensor(rows)
    whole = noise.scale(matrix_ids(torch.arange(100), 6).unsqueeze(0), 0)[0]
    assert torch.equal(noise.scale(matrix_ids(asked, 6).unsqueeze(0), 0)[0], whole[asked])


def test_element_ids_are_those_of_the_matrix() -> None:
    rows, columns = torch.tensor([4, 0, 4, 9]), torch.tensor([2, 2, 0, 7])
    whole = matrix_ids(torch.arange(10), 8)
    assert torch.equal(element_ids(rows, columns), whole[rows, columns])


@given(
    runs=st.integers(1, 4),
    rows=st.integers(0, 9),
    width=st.integers(1, 7),
    block=st.integers(1, 40),
    shared=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_blocks_change_nothing(runs: int, rows: int, width: int, block: int, shared: bool) -> None:
    made = noise_of(list(range(runs)), 0.4, 5)
    groups = 1 if shared else runs
    numbers = 3 * torch.arange(groups * rows).view(groups, rows)
    values = torch.rand(runs, rows, width)
    whole = made.drop(values, matrix_ids(numbers, width), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "BLOCK", block)
        assert torch.equal(made.drop(values, matrix_ids(numbers, width), 2), whole)
        assert torch.equal(made.drop_rows(values, numbers, 2), whole)


@given(
    seeds=st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3),
    moment=st.integers(0, 10**6),
    site=st.integers(0, 30),
    rate=st.floats(0, 0.99),
    threads=st.integers(1, 2),
)
@settings(max_examples=40, deadline=None)
def test_a_cpu_drops_what_the_formula_says(
    seeds: list[int], moment: int, site: int, rate: float, threads: int
) -> None:
    made = noise_of(seeds, rate, moment)
    ids = matrix_ids(torch.arange(30), 7).unsqueeze(0)
    values = torch.rand(1, 30, 7)
    limits = (made.rates.double() * 2**32 - 2**31).clamp(max=2**31 - 1).to(torch.int32)
    kept = noise.stir(ids + made.keys(site).view(-1, 1, 1)) >= limits.view(-1, 1, 1)
    scale = kept * (1 / (1 - made.rates)).view(-1, 1, 1)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "BLOCK", 16)
        patch.setattr(cpu_noise, "BLOCKS_PER_THREAD", 4)
        assert torch.equal(made.scale(ids, site), scale)
        assert torch.equal(made.drop(values, ids, site), values * scale)
        rows = torch.arange(30).unsqueeze(0)
        learned = values.expand(len(seeds), -1, -1).clone().requires_grad_()
        dropped = made.drop_rows(learned, rows, site)
        assert torch.equal(made.drop_rows(learned.detach(), rows, site), dropped)
    torch.set_num_threads(before)
    assert torch.equal(torch.autograd.grad(dropped.sum(), learned)[0], scale.expand_as(learned))


def test_the_fused_dropout_is_there_where_triton_is() -> None:
    found = noise._gpu_dropout()
    assert (found is not None) == (importlib.util.find_spec("triton") is not None)
    assert noise._gpu_dropout() is found
