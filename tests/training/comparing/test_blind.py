"""Blind means blind: the label of a node never reaches the backbone that judges it."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.graph.core import Graph
from ppro.training.comparing import ComparingTrainer
from tests.training.comparing.support import settings_of, small_graph, splits_of, trainer_of

GRAPH = small_graph(60)
SPLITS = splits_of(GRAPH, 1)
TRAIN = SPLITS.train[0].nonzero().squeeze(1).tolist()
CASES = st.tuples(st.sampled_from(TRAIN), st.integers(1, 2), st.sampled_from(["l2b", "l2u"]))
FOLDS = 3


def with_other_label(node: int, shift: int) -> Graph:
    labels = GRAPH.labels.clone()
    labels[node] = (labels[node] + shift) % 3
    return replace(GRAPH, labels=labels)


def by_backbone(trainer: ComparingTrainer) -> Tensor:
    """θ of each backbone of the run. Shape ``[1 + K, P]``."""
    return trainer.theta.flat.clone()


def same_folds(trainer: ComparingTrainer, other: ComparingTrainer) -> ComparingTrainer:
    """The other trainer, with the folds of the first: classes are spread over folds by label."""
    other.panel = trainer.panel
    other.theta_rows, other.sight = other._theta_rows(), other._sight()
    return other


def costs_as_seen(trainer: ComparingTrainer) -> Tensor:
    """What every backbone predicts of the training nodes that it looks at, at every step."""
    rows = trainer.rows.nodes
    looking = trainer.model.own(rows) + trainer.panel.view
    with torch.no_grad():
        return trainer.model.predictions(trainer.sight).seen(rows, looking)[0]


@settings(deadline=None, max_examples=8)
@given(CASES)
def test_a_whole_training_of_the_blind_backbone_does_not_know_the_label(
    case: tuple[int, int, str],
) -> None:
    # Steps are drawn and priorities are equal, so that nothing comes back from φ.
    node, shift, strategy = case
    chosen = settings_of(
        1, strategy=strategy, judge_folds=FOLDS, warm_up=100, use_weighting=False, epochs=12
    )
    one = trainer_of(GRAPH, SPLITS, chosen)
    two = same_folds(one, trainer_of(with_other_label(node, shift), SPLITS, chosen))
    place = TRAIN.index(node)
    judge = int(one.panel.view[0, place])
    epochs = [trainer.program() for trainer in (one, two)]
    for _ in range(12):
        for epoch in epochs:
            epoch()
        known, changed = by_backbone(one), by_backbone(two)
        assert torch.equal(known[judge], changed[judge])
        assert all(not torch.equal(known[k], changed[k]) for k in range(1 + FOLDS) if k != judge)
        seen = [costs_as_seen(trainer)[:, 0, place] for trainer in (one, two)]
        assert torch.equal(*seen)


@settings(deadline=None, max_examples=8)
@given(CASES, st.integers(0, 14))
def test_no_label_reaches_the_blind_backbone_at_chosen_steps(
    case: tuple[int, int, str], epochs: int
) -> None:
    node, shift, strategy = case
    chosen = settings_of(1, strategy=strategy, judge_folds=FOLDS)
    one = trainer_of(GRAPH, SPLITS, chosen)
    epoch = one.program()
    for _ in range(epochs):
        epoch()
    two = trainer_of(with_other_label(node, shift), SPLITS, chosen)
    two.restore({name: value.clone() for name, value in one.state().items()})
    same_folds(one, two)
    for trainer in (one, two):
        trainer.update_backbone()
    judge = int(one.panel.view[0, TRAIN.index(node)])
    known, changed = by_backbone(one), by_backbone(two)
    assert torch.equal(known[judge], changed[judge])
    assert all(not torch.equal(known[k], changed[k]) for k in range(1 + FOLDS) if k != judge)


def test_nodes_held_back_do_not_teach_the_backbone() -> None:
    chosen = settings_of(1, judges="share", judge_share=0.5, use_weighting=False, warm_up=100)
    one = trainer_of(GRAPH, SPLITS, chosen)
    held = [node for node, teaches in zip(TRAIN, one.panel.teaches[0], strict=True) if teaches]
    two = trainer_of(with_other_label(held[0], 1), SPLITS, chosen)
    epochs = [trainer.program() for trainer in (one, two)]
    for _ in range(8):
        for epoch in epochs:
            epoch()
    assert torch.equal(one.theta.flat, two.theta.flat)
    assert not torch.equal(one.phi.flat, two.phi.flat)
