"""Nodes that teach the controllers alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.data import load_graph, make_splits
from ppro.errors import SettingsError
from ppro.settings.settings import Settings, parse_settings
from ppro.training.fit import Fit, fit
from ppro.training.judges.share import HeldBack
from tests.training.judges.support import rows_of

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9])


@given(st.lists(st.integers(2, 30), min_size=1, max_size=4), SHARES, st.integers(0, 5))
def test_every_node_teaches_one_side_and_none_is_left_empty(
    sizes: list[int], share: float, seed: int
) -> None:
    rows = rows_of(sizes)
    panel = HeldBack.panel(rows, [Settings(judge_share=share, seed=seed) for _ in sizes])
    learn, teach = panel.learners(rows), panel.teachers(rows)
    assert not panel.view.any()
    if share == 0:
        assert torch.equal(learn.valid, rows.valid)
        assert torch.equal(teach.valid, rows.valid)
        return
    assert torch.equal(learn.valid + teach.valid, rows.valid)
    assert bool((learn.valid.sum(1) >= 1).all())
    assert bool((teach.valid.sum(1) >= 1).all())


def test_a_single_node_teaches_both_sides() -> None:
    rows = rows_of([1, 4])
    panel = HeldBack.panel(rows, [Settings(judge_share=0.5)] * 2)
    assert panel.learners(rows).valid[0].sum() == panel.teachers(rows).valid[0].sum() == 1


def test_a_run_draws_the_same_nodes_alone_and_beside_larger_ones() -> None:
    settings = [Settings(judge_share=0.3, seed=3), Settings(seed=4)]
    both = HeldBack.panel(rows_of([10, 25]), settings).learners(rows_of([10, 25]))
    alone = HeldBack.panel(rows_of([10]), settings[:1]).learners(rows_of([10]))
    assert torch.equal(both.valid[0, :10], alone.valid[0])
    assert torch.equal(both.valid[1], rows_of([10, 25]).valid[1])


def trained(strategy: str, epochs: int, **changes: Any) -> tuple[Fit, Fit]:
    """Two trainings that differ in the labels of the judges alone."""
    graph = load_graph("csbm", options={"nodes": 90})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    chosen = Settings.model_validate(
        {"strategy": strategy, "judge_share": 0.5, "epochs": epochs, "max_steps": 2, **changes}
    )
    members = splits.train[0].nonzero().squeeze(-1)
    order = torch.randperm(len(members), generator=torch.Generator().manual_seed(0))
    judges = members[order[: round(0.5 * len(members))]]
    labels = graph.labels.clone()
    labels[judges] = (labels[judges] + 1) % graph.num_classes
    changed = replace(graph, labels=labels)
    one, two = (fit(g, splits, [chosen], threads=1) for g in (graph, changed))
    return one, two


@pytest.mark.parametrize("changes", [{}, {"teaching": "compare", "judge_every": 1}])
def test_judges_teach_the_controllers_and_not_the_backbone(changes: dict[str, Any]) -> None:
    # One epoch: later ones reach θ through the steps and weights that φ has learned.
    one, two = trained("l2b", 1, **changes)
    for a, b in zip(one.model.theta(), two.model.theta(), strict=True):
        assert torch.equal(a, b)
    assert any(not torch.equal(a, b) for a, b in zip(one.model.phi(), two.model.phi(), strict=True))


def test_without_controllers_all_nodes_teach_the_backbone() -> None:
    one, two = trained("none", 1)
    assert any(
        not torch.equal(a, b) for a, b in zip(one.model.theta(), two.model.theta(), strict=True)
    )


def test_the_share_alone_names_its_judges() -> None:
    named, alone = trained("l2b", 6, judges="share")[0], trained("l2b", 6)[0]
    for a, b in zip(named.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert parse_settings({"teaching": "compare", "judge_share": 0.2}, "").controllers.judges == (
        "share"
    )


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="judges=share needs a share; set judge_share"):
        parse_settings({"judges": "share"}, "settings")
