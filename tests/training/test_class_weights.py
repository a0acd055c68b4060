from __future__ import annotations

import numpy as np
import pytest
import torch

from ppro.errors import SettingsError
from ppro.settings.settings import Settings
from ppro.training.class_weights import class_weights, weighted
from ppro.training.trainer import Trainer
from tests.support import Reference, World, model64, small_settings

TRAIN, VAL = [[0, 3, 4, 5, 7, 8], [1, 2, 6, 9]], [[1, 2], [0, 3, 10]]
LABELS = torch.tensor([0, 0, 0, 1, -1])


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    from sklearn.utils.class_weight import compute_class_weight

    train = torch.tensor([[True, True, True, True, False], [True, False, False, True, False]])
    found = class_weights("balanced", LABELS, train, 3)
    assert found is not None
    for run, mask in enumerate(train):
        y = LABELS[mask].numpy()
        expected = compute_class_weight("balanced", classes=np.array([0, 1]), y=y)
        assert found[run, :2].tolist() == pytest.approx(expected.tolist())
    assert bool(torch.isfinite(found).all())


def test_given_weights_hold_for_every_run() -> None:
    train = torch.ones(2, 5, dtype=torch.bool)
    found = class_weights([1.0, 2.5], LABELS, train, 2)
    assert found is not None
    assert found.tolist() == [[1.0, 2.5]] * 2
    assert class_weights(None, LABELS, train, 2) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0], "1 weights for 2 classes"),
        ([1.0, 0.0], "must be positive and finite"),
        ([1.0, float("nan")], "must be positive and finite"),
        ("even", "class_weight 'even': unknown"),
    ],
)
def test_wrong_weights_are_told(given: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        class_weights(given, LABELS, torch.ones(1, 5, dtype=torch.bool), 2)  # type: ignore[arg-type]


PROGRAMS = [{"strategy": "l2b"}, {"strategy": "l2u"}, {"strategy": "none"}]


@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
def test_losses_are_weighted_means_over_the_nodes(changes: dict[str, object]) -> None:
    world, weights = World.random(0), torch.tensor([[1.0, 3.0, 0.5], [2.0, 1.0, 4.0]])
    runs = [small_settings(**changes, seed=seed, dropout=0.0) for seed in (3, 8)]
    model = model64(runs)
    rows = weighted(world.rows(TRAIN), weights)
    trainer = Trainer(model, world.inputs, rows, world.rows(VAL), runs)
    references = [Reference(model, run, world) for run in range(2)]
    loss = None if trainer.phi is None else controller_loss(trainer)
    mean_error, _ = trainer.update_backbone()
    for run, reference in enumerate(references):
        reference.propagate()
        by_hand = ByHand(reference, TRAIN[run], weights[run], runs[run])
        assert float(mean_error[run]) == pytest.approx(by_hand.mean_error(), rel=1e-6)
        if loss is not None:
            assert float(loss[run]) == pytest.approx(by_hand.controller_loss(), rel=1e-6)


def controller_loss(trainer: Trainer) -> torch.Tensor:
    loss = trainer.model.controller_loss(trainer.inputs, trainer.train_rows, None)
    return loss.detach()


class ByHand:
    """Eq. 9, 10, 13 and 14 with a weight for every node, in loops."""

    def __init__(
        self, reference: Reference, nodes: list[int], weights: torch.Tensor, chosen: Settings
    ) -> None:
        self.reference, self.nodes, self.chosen = reference, nodes, chosen
        self.share = {i: float(weights[int(reference.world.labels[i])]) for i in nodes}
        self.steps = {i: reference.step(i) for i in nodes}
        self.error = {
            i: float(reference.error(i, reference.h[self.steps[i]][i]).detach()) for i in nodes
        }

    def mean(self, values: dict[int, float]) -> float:
        return sum(self.share[i] * values[i] for i in self.nodes) / sum(self.share.values())

    def mean_error(self) -> float:
        return self.mean(self.error)

    def controller_loss(self) -> float:
        w = {i: float(self.reference.weight(i, self.steps[i]).detach()) for i in self.nodes}
        gain = {
            i: w[i] * self.error[i] - self.chosen.controllers.lambda1 * w[i] ** 2
            for i in self.nodes
        }
        return self.propagation_loss() - self.chosen.controllers.lambda2 * self.mean(gain)

    def propagation_loss(self) -> float:
        if self.chosen.strategy == "l2b":
            low, high = min(self.error.values()), max(self.error.values())
            p = {i: self.probability(i, self.steps[i], None) for i in self.nodes}
            apart = {i: abs((self.error[i] - low) / (high - low) - (1 - p[i])) for i in self.nodes}
            return self.mean(apart)
        return self.mean({i: self.cost(i) for i in self.nodes})

    def probability(self, i: int, k: int, best: int | None) -> float:
        return float(self.reference.probability(i, k, best).detach())

    def cost(self, i: int) -> float:
        """Eq. 10 of one node."""
        reference, best, total = self.reference, 0, 0.0
        for k in range(1, self.chosen.network.max_steps + 1):
            p = self.probability(i, k, best)
            at = [float(reference.error(i, reference.h[step][i]).detach()) for step in (k, best)]
            total += p * (at[0] - at[1])
            best = k if p > reference.epsilon else best
        return total / self.chosen.network.max_steps
