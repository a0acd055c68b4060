"""Both losses of Algorithm 1: which nodes count, what they teach, batches with little to tell."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.errors import SettingsError
from ppro.nn import PPro
from tests.nn.module.support import CLASSES, FEATURES, NODES, backward, toy_graph, toy_model

both_strategies = pytest.mark.parametrize("strategy", ["l2b", "l2u"])


def both(model: PPro, y: Tensor, mask: Tensor | slice | None = None) -> list[Tensor]:
    x, edges, _ = toy_graph()
    torch.manual_seed(3)
    first = model.backbone_loss(model(x, edges), y, mask)
    return [first, model.controller_loss(x, edges, y, mask)]


@both_strategies
def test_each_loss_teaches_its_own_parameters(strategy: str) -> None:
    model = toy_model(strategy=strategy)
    y = toy_graph()[2]
    theirs = model.backbone_parameters(), model.controller_parameters()
    for loss, (own, other) in zip(both(model, y), (theirs, theirs[::-1]), strict=True):
        model.zero_grad()
        backward(loss)
        assert any(p.grad is not None and bool((p.grad != 0).any()) for p in own)
        assert all(p.grad is None or not bool((p.grad != 0).any()) for p in other)


def test_the_loss_of_the_backbone_is_equation_13() -> None:
    x, edges, y = toy_graph()
    model = toy_model(lambda1=0.7).eval()
    logits = model(x, edges)
    w, error = model.priorities[:9], F.cross_entropy(logits[:9], y[:9], reduction="none")
    expected = (w * error).mean() - 0.7 * w.square().mean()
    torch.testing.assert_close(model.backbone_loss(logits, y, slice(9)), expected)


@both_strategies
def test_masks_in_every_form_are_the_same(strategy: str) -> None:
    y = toy_graph()[2]
    model = toy_model(strategy=strategy)
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[:7] = True
    expected = both(model, y, slice(7))
    unlabelled = torch.where(mask, y, -1)
    for given, labels in ((mask, y), (mask.nonzero().squeeze(1), y), (None, unlabelled)):
        for loss, other in zip(both(model, labels, given), expected, strict=True):
            torch.testing.assert_close(loss, other)


@both_strategies
@pytest.mark.parametrize("what", ["no label", "no node", "one class", "one node"])
def test_batches_with_little_to_tell(strategy: str, what: str) -> None:
    y, mask = toy_graph()[2], slice(None)
    if what == "no label":
        y = torch.full_like(y, -1)
    elif what == "no node":
        mask = slice(0)
    elif what == "one class":
        y = torch.zeros_like(y)
    else:
        mask = slice(1)
    model = toy_model(strategy=strategy)
    nothing = what.startswith("no ")
    optimiser = torch.optim.Adam(model.parameters())
    for loss in both(model, y, mask):
        assert loss.shape == ()
        assert torch.isfinite(loss)
        assert not nothing or loss == 0
        optimiser.zero_grad()
        backward(loss)
        optimiser.step()
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())


def test_without_controllers_their_loss_is_zero() -> None:
    loss = both(toy_model(strategy="none"), toy_graph()[2])[1]
    assert loss == 0
    backward(loss)
    ablated = toy_model(use_propagation=False, use_weighting=False)
    backward(both(ablated, toy_graph()[2])[1])


@both_strategies
def test_a_criterion_of_one_s_own(strategy: str) -> None:
    y = toy_graph()[2]
    usual = toy_model(strategy=strategy)
    weights = torch.tensor([1.0, 2.0, 3.0])
    own = toy_model(
        strategy=strategy, criterion=nn.CrossEntropyLoss(reduction="none", weight=weights)
    )
    same = toy_model(
        strategy=strategy, criterion=lambda a, b: F.cross_entropy(a, b, reduction="none")
    )
    for model in (own, same):
        model.load_state_dict(usual.state_dict(), strict=False)
    for one, other, third in zip(*(both(m, y) for m in (usual, same, own)), strict=True):
        torch.testing.assert_close(one, other)
        assert one != third


def test_several_labels_for_a_node() -> None:
    x, edges, y = toy_graph()
    several = F.one_hot(y, CLASSES).float()

    def criterion(logits: Tensor, labels: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(-1)

    for strategy in ("l2b", "l2u"):
        model = toy_model(strategy=strategy, criterion=criterion)
        backward(model.backbone_loss(model(x, edges), several, slice(20)))
        backward(model.controller_loss(x, edges, several, slice(20)))


def test_a_criterion_must_speak_of_each_node() -> None:
    x, edges, y = toy_graph()
    model = toy_model(criterion=nn.CrossEntropyLoss())
    with pytest.raises(SettingsError, match="reduction='none'"):
        model.backbone_loss(model(x, edges), y)


def test_a_loss_belongs_to_the_last_pass() -> None:
    x, edges, y = toy_graph()
    model = toy_model()
    with pytest.raises(SettingsError, match="last forward pass"):
        model.backbone_loss(torch.zeros(NODES, CLASSES), y)
    logits = model(x, edges)
    with pytest.raises(SettingsError, match="with all its rows"):
        model.backbone_loss(logits[:5], y[:5])


def test_l2u_compares_steps_under_one_mask() -> None:
    """Were every step dropped anew, equal embeddings would have different errors."""
    x, _, y = toy_graph()
    nothing = torch.empty(2, 0, dtype=torch.int64)
    model = PPro(FEATURES, 8, CLASSES, 3, strategy="l2u", dropout=0.5, use_weighting=False)
    # Without edges and with α = 0 no step changes anything, so nothing can be lost or gained.
    assert model.controller_loss(x, nothing, y).abs() < 1e-6
