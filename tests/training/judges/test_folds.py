"""Folds of the training nodes, and who is blind to them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.errors import SettingsError
from ppro.settings.settings import Settings, parse_settings
from ppro.training.judges.folds import Folds, fold_of
from tests.training.judges.support import rows_of

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=3)


@given(SIZES, st.integers(1, 5), st.integers(2, 6), st.integers(0, 9))
def test_every_row_is_in_one_fold_and_classes_are_spread(
    sizes: list[int], classes: int, folds: int, seed: int
) -> None:
    rows = rows_of(sizes, classes, seed)
    found = fold_of(rows, [Settings(seed=seed)] * len(sizes), folds)
    assert torch.equal(found > 0, rows.valid > 0)
    assert int(found.max()) <= folds
    for run, size in enumerate(sizes):
        of_run, labels = found[run, :size], rows.labels[run, :size]
        for counted in (of_run, *(of_run[labels == c] for c in range(classes))):
            counts = torch.bincount(counted, minlength=folds + 1)[1:]
            assert int(counts.max() - counts.min()) <= 1


@given(SIZES, st.integers(2, 4), st.integers(0, 9))
def test_a_run_draws_the_same_folds_again_and_alone(
    sizes: list[int], folds: int, seed: int
) -> None:
    rows, settings = rows_of(sizes, 3), [Settings(seed=seed + run) for run in range(len(sizes))]
    found = fold_of(rows, settings, folds)
    assert torch.equal(found, fold_of(rows, settings, folds))
    alone = fold_of(rows.select(torch.tensor([0])), settings[:1], folds)
    assert torch.equal(found[:1], alone)


def test_seeds_draw_different_folds() -> None:
    rows = rows_of([30, 30])
    found = fold_of(rows, [Settings(seed=0), Settings(seed=1)], 3)
    assert not torch.equal(found[0], found[1])


@given(SIZES, st.integers(2, 4))
def test_a_backbone_is_blind_to_what_it_looks_at(sizes: list[int], folds: int) -> None:
    rows = rows_of(sizes, 3)
    chosen = Settings(teaching="compare", judges="folds", judge_folds=folds)
    assert Folds.backbones(chosen.controllers) == folds
    panel = Folds.panel(rows, [chosen] * len(sizes))
    assert panel.learns.shape == (len(sizes), 1 + folds, max(sizes))
    assert bool(panel.learns[:, 0].all())
    assert bool(panel.teaches.all())
    for run, size in enumerate(sizes):
        for row in range(size):
            looks = int(panel.view[run, row])
            assert looks > 0
            blind = [k for k in range(1 + folds) if not panel.learns[run, k, row]]
            assert blind == [looks]


def test_folds_are_not_for_the_papers_teaching() -> None:
    with pytest.raises(SettingsError, match=r"judges=folds has backbones .* set teaching=compare"):
        parse_settings({"teaching": "paper", "judges": "folds"}, "settings")


def test_folds_hold_nobody_back() -> None:
    values = {"teaching": "compare", "judges": "folds", "judge_share": 0.2}
    with pytest.raises(SettingsError, match="judges=folds keeps no node from the backbone"):
        parse_settings(values, "settings")


def test_another_teaching_has_its_usual_judges() -> None:
    usual = Settings()
    compared = usual.replace(teaching="compare")
    assert (usual.controllers.judges, compared.controllers.judges) == ("train", "folds")
    assert compared.replace(teaching="paper") == usual
    assert usual.replace(teaching="compare", judges="train").controllers.judges == "train"
