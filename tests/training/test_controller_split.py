"""Nodes that teach the controllers alone."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.data import load_graph, make_splits
from ppro.nn.network import Rows
from ppro.settings.settings import Settings
from ppro.training.controller_split import share_out
from ppro.training.fit import Fit, fit

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9])


def rows(sizes: list[int]) -> Rows:
    valid = torch.zeros(len(sizes), max(sizes))
    for run, size in enumerate(sizes):
        valid[run, :size] = 1
    nodes = torch.arange(max(sizes)).expand(len(sizes), -1)
    return Rows(nodes, torch.zeros_like(nodes), valid)


@given(st.lists(st.integers(2, 30), min_size=1, max_size=4), SHARES, st.integers(0, 5))
def test_every_node_teaches_one_side_and_none_is_left_empty(
    sizes: list[int], share: float, seed: int
) -> None:
    given_rows = rows(sizes)
    settings = [Settings(judge_share=share, seed=seed) for _ in sizes]
    learn, judge = share_out(given_rows, settings)
    if share == 0:
        assert learn is judge is given_rows
        return
    assert torch.equal(learn.valid + judge.valid, given_rows.valid)
    assert bool((learn.valid.sum(1) >= 1).all())
    assert bool((judge.valid.sum(1) >= 1).all())


def test_a_run_draws_the_same_nodes_alone_and_beside_larger_ones() -> None:
    settings = [Settings(judge_share=0.3, seed=3), Settings(seed=4)]
    both, _ = share_out(rows([10, 25]), settings)
    alone, _ = share_out(rows([10]), settings[:1])
    assert torch.equal(both.valid[0, :10], alone.valid[0])
    assert torch.equal(both.valid[1], rows([10, 25]).valid[1])


def trained(strategy: str, epochs: int) -> tuple[Fit, Fit]:
    """Two trainings that differ in the labels of the judges alone."""
    graph = load_graph("csbm", options={"nodes": 90})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    chosen = Settings.model_validate(
        {"strategy": strategy, "judge_share": 0.5, "epochs": epochs, "max_steps": 2}
    )
    members = splits.train[0].nonzero().squeeze(-1)
    order = torch.randperm(len(members), generator=torch.Generator().manual_seed(0))
    judges = members[order[: round(0.5 * len(members))]]
    labels = graph.labels.clone()
    labels[judges] = (labels[judges] + 1) % graph.num_classes
    changed = replace(graph, labels=labels)
    one, two = (fit(g, splits, [chosen], threads=1) for g in (graph, changed))
    return one, two


def test_judges_teach_the_controllers_and_not_the_backbone() -> None:
    # One epoch: later ones reach θ through the steps and weights that φ has learned.
    one, two = trained("l2b", 1)
    for a, b in zip(one.model.theta(), two.model.theta(), strict=True):
        assert torch.equal(a, b)
    assert any(not torch.equal(a, b) for a, b in zip(one.model.phi(), two.model.phi(), strict=True))


def test_without_controllers_all_nodes_teach_the_backbone() -> None:
    one, two = trained("none", 1)
    assert any(
        not torch.equal(a, b) for a, b in zip(one.model.theta(), two.model.theta(), strict=True)
    )
