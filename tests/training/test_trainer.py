from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.features import Features
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.batched import PProNetwork
from ppro.settings.settings import Settings
from ppro.training.trainer import Trainer
from tests.support import Reference, World, build_ppro, model64, small_settings

TRAIN, VAL = [[0, 3, 4, 5, 7, 8], [1, 2, 6, 9]], [[1, 2], [0, 3, 10]]

Change = dict[str, Any]
PROGRAMS: list[Change] = [
    {"strategy": "l2b"},
    {"strategy": "l2u"},
    {"strategy": "none"},
    {"strategy": "l2b", "form": "class", "decay": "all"},
    {"strategy": "l2u", "concat": True, "use_weighting": False},
    {"strategy": "l2u", "form": "features", "concat": True},
    {"strategy": "l2u", "use_propagation": False, "weight_form": "tanh"},
    {"strategy": "l2b", "priority_scale": "mean"},
    {"strategy": "l2u", "priority_scale": "mean", "weight_form": "tanh"},
    {"strategy": "l2b", "fading": 3.0},
    {"strategy": "none", "fading": 0.5},
]
PER_RUN: list[Change] = [
    {"seed": 3, "lr": 0.02, "lr_controller": 0.01, "lambda1": 0.5, "lambda2": 2.0},
    {
        **{"seed": 8, "lr": 0.1, "lr_controller": 0.001, "lambda1": 2.0, "lambda2": 0.25},
        **{"weight_decay": 0.05, "epsilon": 0.25, "dropout": 0.25, "edge_dropout": 0.25},
    },
]


def runs_of(changes: Change) -> list[Settings]:
    return [small_settings(**changes, **own) for own in PER_RUN]


class HandWritten:
    """Algorithm 1 for one run, with torch.optim.Adam and plain autograd."""

    def __init__(self, model: PProNetwork, run: int, world: World, chosen: Settings) -> None:
        self.reference, self.chosen, self.nodes = Reference(model, run, world), chosen, TRAIN[run]
        theta = self.reference.group("backbone")
        decayed = (
            [self.reference.p["backbone.weight1"]] if chosen.training.decay == "first" else theta
        )
        rest = [p for p in theta if all(p is not d for d in decayed)]
        groups: list[Change] = [
            {"params": decayed, "weight_decay": chosen.training.weight_decay},
            {"params": rest},
        ]
        self.theta = torch.optim.Adam([g for g in groups if g["params"]], lr=chosen.training.lr)
        phi = self.reference.group("controllers")
        self.phi = torch.optim.Adam(phi, lr=chosen.controllers.lr_controller) if phi else None

    def epoch(self, number: int, runs: list[Settings]) -> tuple[Tensor, Tensor | None]:
        self.reference.noise = noise_at(runs, 2 * number)
        backbone_loss = self.reference.backbone_loss(self.nodes, self.chosen.controllers.lambda1)
        descend(self.theta, backbone_loss * self.share_of_labels())
        if self.phi is None:
            return backbone_loss, None
        self.reference.noise = noise_at(runs, 2 * number + 1)
        loss = self.reference.controller_loss(
            self.nodes, self.chosen.controllers.lambda1, self.chosen.controllers.lambda2
        )
        descend(self.phi, loss)
        return backbone_loss, loss

    def share_of_labels(self) -> float:
        delta = self.chosen.training.fading
        return min(1.0, self.reference.mean_error / delta) if delta > 0 else 1.0

    def check(self, model: PProNetwork, run: int, tolerance: float) -> None:
        for name, value in model.named_parameters():
            torch.testing.assert_close(
                value[run].detach().double(),
                self.reference.p[name].detach(),
                atol=tolerance,
                rtol=tolerance,
            )


def descend(adam: torch.optim.Optimizer, loss: Tensor) -> None:
    params = [p for group in adam.param_groups for p in group["params"]]
    grads = torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True)
    for p, grad in zip(params, grads, strict=True):
        p.grad = grad
    adam.step()


def noise_at(runs: list[Settings], moment: int) -> Noise:
    return Noise(
        Noise.hashed_seeds(torch.tensor([s.seed for s in runs])),
        torch.tensor([s.training.dropout for s in runs]),
        torch.tensor(moment, dtype=torch.int32),
        torch.tensor([s.training.edge_dropout for s in runs]),
    )


def trainer_of(model: PProNetwork, world: World, runs: list[Settings]) -> Trainer:
    return Trainer(model, world.inputs, world.rows(TRAIN), world.rows(VAL), runs)


@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
def test_a_round_is_algorithm_1_written_by_hand(changes: Change) -> None:
    world, runs = World.random(0), runs_of(changes)
    model = model64(runs)
    by_hand = [HandWritten(model, run, world, chosen) for run, chosen in enumerate(runs)]
    trainer = trainer_of(model, world, runs)
    trainer.update_backbone()
    controller_loss = trainer.update_controllers()
    for run, reference in enumerate(by_hand):
        _, loss = reference.epoch(0, runs)
        if loss is not None:
            assert float(controller_loss[run]) == pytest.approx(float(loss.detach()), rel=1e-6)
        # Learning rates are single precision, so that is as close as an update can come.
        reference.check(model, run, 1e-7)


def single(world: World) -> World:
    adjacency = Adjacency.build(world.edges, world.nodes)
    inputs = replace(
        world.inputs,
        features=Features(world.x.float()),
        adjacency=adjacency,
        influence=world.inputs.influence.float(),
    )
    return replace(world, inputs=inputs)


@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
def test_epochs_in_single_precision_follow_algorithm_1(changes: Change) -> None:
    world, runs = World.random(1), runs_of(changes)
    model = build_ppro(6, 3, runs)
    by_hand = [HandWritten(model, run, world, chosen) for run, chosen in enumerate(runs)]
    trainer = trainer_of(model, single(world), runs)
    for number in range(5):
        trainer.epoch()
        for run, reference in enumerate(by_hand):
            reference.epoch(number, runs)
            reference.check(model, run, 1e-3)


def test_the_metrics_are_those_of_the_rows() -> None:
    world, runs = World.random(2), runs_of({"strategy": "l2b"})
    model = model64(runs)
    trainer = trainer_of(model, world, runs)
    loss, accuracy, _ = trainer.validate()
    for run, nodes in enumerate(VAL):
        reference = Reference(model, run, world)
        reference.propagate()
        errors, hits = [], []
        for i in nodes:
            h = reference.h[reference.step(i)][i]
            errors.append(float(reference.error(i, h).detach()))
            hits.append(int(reference.classify(i, h).argmax()) == int(world.labels[i]))
        assert float(loss[run]) == pytest.approx(sum(errors) / len(errors), abs=1e-6)
        assert float(accuracy[run]) == pytest.approx(sum(hits) / len(hits))


def test_validation_changes_nothing() -> None:
    world, runs = World.random(3), runs_of({"strategy": "l2u"})
    model = model64(runs)
    before = [p.detach().clone() for p in model.parameters()]
    trainer_of(model, world, runs).validate()
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


def test_selected_runs_go_on_as_if_nothing_had_happened() -> None:
    world, runs = World.random(4), runs_of({"strategy": "l2b"})
    models = [model64(runs) for _ in range(2)]
    trainers = [trainer_of(model, world, runs) for model in models]
    for trainer in trainers:
        trainer.update_backbone()
        trainer.update_controllers()
    trainers[1].select(torch.tensor([1]))
    for trainer in trainers:
        trainer.update_backbone()
        trainer.update_controllers()
    for both, one in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(one[0], both[1])
