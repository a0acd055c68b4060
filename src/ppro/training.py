"""Training: the alternating optimisation of Algorithm 1, early stopping, many runs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro import losses
from ppro.config import Settings
from ppro.model import Inputs, PPro, Rows
from ppro.noise import Noise
from ppro.optim import RunAdam

METRICS = ("train_loss", "controller_loss", "val_loss", "val_accuracy", "mean_step")


@dataclass(frozen=True, eq=False)
class RunValues:
    """The settings that differ between runs, one value per run. All of shape ``[R]``."""

    seeds: Tensor
    dropout: Tensor
    lr: Tensor
    lr_controller: Tensor
    weight_decay: Tensor
    epsilon: Tensor
    lambda1: Tensor
    lambda2: Tensor

    @classmethod
    def stack(cls, settings: Sequence[Settings], device: torch.device) -> RunValues:
        """Collect them from the settings of every run."""

        def column(key: str, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.tensor([getattr(s, key) for s in settings], dtype=dtype, device=device)

        rest = ("dropout", "lr", "lr_controller", "weight_decay", "epsilon", "lambda1", "lambda2")
        seeds = Noise.hashed_seeds(column("seed", torch.int64))
        return cls(seeds, *(column(key) for key in rest))

    def select(self, runs: Tensor) -> RunValues:
        """The values of some of the runs."""
        return RunValues(*(getattr(self, name)[runs] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class History:
    """What training recorded.

    Args:
        metrics: per epoch, metric (see METRICS) and run; NaN after a run has stopped.
            Shape ``[epochs, 5, R]``.
        best_epoch: epoch of the state that was kept. Shape ``[R]``.
        epochs: epochs trained. Shape ``[R]``.
        interrupted: whether training was cut short by Ctrl-C.
    """

    metrics: Tensor
    best_epoch: Tensor
    epochs: Tensor
    interrupted: bool = False


OnEpoch = Callable[[int, Tensor, int], None]
"""Called after every epoch with its number, its metrics ``[5, R]`` and the runs still training."""


class Trainer:
    """Trains the R runs of a model together; each stops by itself and keeps its best state.

    Args:
        settings: one per run; all must agree on everything that shapes the program.
        train, val: training and validation nodes of each run. No validation label enters a
            gradient, and no test label enters at all.
    """

    def __init__(
        self,
        model: PPro,
        inputs: Inputs,
        train: Rows,
        val: Rows,
        settings: Sequence[Settings],
    ) -> None:
        self.model, self.inputs, self.train_rows, self.val_rows = model, inputs, train, val
        self.settings = settings[0]
        self.values = RunValues.stack(settings, train.nodes.device)
        self.epoch = 0
        theta = list(model.backbone.parameters())
        decayed = theta if self.settings.decay == "all" else model.backbone.decayed()
        self.theta = RunAdam(theta, decayed, self.values.lr, self.values.weight_decay)
        self.phi = None
        if model.controllers is not None:
            phi = list(model.controllers.parameters())
            zero = torch.zeros_like(self.values.lr_controller)
            self.phi = RunAdam(phi, [], self.values.lr_controller, zero)

    def run(self, on_epoch: OnEpoch | None = None) -> History:
        """Algorithm 1 until every run has stopped; the model ends up in each run's best state.

        Ctrl-C ends it early, in the best states so far.
        """
        keeper = _Best(self)
        interrupted = False
        try:
            while self.epoch < self.settings.epochs and keeper.active:
                keeper.set_aside()
                train_loss, mean_step = self.update_backbone()
                controller_loss = self.update_controllers()
                val_loss, val_accuracy = self.validate()
                metrics = keeper.record(
                    torch.stack([train_loss, controller_loss, val_loss, val_accuracy, mean_step])
                )
                self.epoch += 1
                if on_epoch is not None:
                    on_epoch(self.epoch, metrics, keeper.active)
        except KeyboardInterrupt:
            if not keeper.log:
                raise
            interrupted = True
        keeper.restore()
        return keeper.history(interrupted)

    def update_backbone(self) -> tuple[Tensor, Tensor]:
        """Lines 3-9: propagate with θ^(t), φ^(t), then θ^(t+1) = θ^(t) - α_g ∇L_g."""
        outcome = self.model(self.inputs, self.train_rows, self._noise(0))
        error = losses.prediction_error(outcome.logits, self.train_rows.labels)
        loss = losses.weighted_loss(
            error, outcome.weights, self.values.lambda1, self.train_rows.valid
        )
        self.theta.minimise(loss)
        steps = losses.node_mean(outcome.steps.to(loss.dtype), self.train_rows.valid)
        return losses.supervised_loss(error, self.train_rows.valid).detach(), steps

    def update_controllers(self) -> Tensor:
        """Lines 10-11: repeat with θ^(t+1), then φ^(t+1) = φ^(t) - α_F ∇L_Controller."""
        if self.phi is None:
            return torch.zeros_like(self.values.lr)
        loss = self.model.controller_loss(
            self.inputs, self.train_rows, self._noise(1), self.values.lambda1, self.values.lambda2
        )
        if loss.requires_grad:
            self.phi.minimise(loss)
        return loss.detach()

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor]:
        """Validation loss and accuracy of every run."""
        outcome = self.model(self.inputs, self.val_rows)
        rows = self.val_rows
        loss = losses.supervised_loss(
            losses.prediction_error(outcome.logits, rows.labels), rows.valid
        )
        hits = (outcome.logits.argmax(-1) == rows.labels).to(loss.dtype)
        return loss, losses.node_mean(hits, rows.valid)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        self.values = self.values.select(runs)
        self.train_rows, self.val_rows = self.train_rows.select(runs), self.val_rows.select(runs)
        self.model.epsilon = self.values.epsilon.unsqueeze(1)
        for optimiser in self.optimisers:
            optimiser.select(runs)

    @property
    def optimisers(self) -> list[RunAdam]:
        """Those of θ and, where there are controllers, φ."""
        return [self.theta] if self.phi is None else [self.theta, self.phi]

    def _noise(self, part: int) -> Noise:
        moment = torch.tensor(2 * self.epoch + part, dtype=torch.int32)
        return Noise(self.values.seeds, self.values.dropout, moment.to(self.values.seeds.device))


class _Best:
    """The best state of each run so far: highest validation accuracy, ties by the lower loss.

    Runs whose patience is over are set aside in groups, so that the others go on faster.
    """

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        runs, device = trainer.values.lr.shape[0], trainer.values.lr.device
        self.held = torch.arange(runs, device=device)
        self.accuracy = torch.full((runs,), -1.0, device=device)
        self.loss = torch.full((runs,), torch.inf, device=device)
        self.epoch = torch.zeros(runs, dtype=torch.int64, device=device)
        self.stopped = torch.zeros(runs, dtype=torch.int64, device=device)
        self.going = torch.ones(runs, dtype=torch.bool, device=device)
        self.states = [optimiser.flat.clone() for optimiser in trainer.optimisers]
        self.epsilon = trainer.model.epsilon
        self.log: list[Tensor] = []

    @property
    def active(self) -> int:
        """How many runs still train."""
        return int(self.going.sum())

    def record(self, measured: Tensor) -> Tensor:
        """Take note of an epoch; returns its metrics, NaN for stopped runs. Shape ``[5, R]``."""
        epoch = self.trainer.epoch
        metrics = measured.new_full((len(METRICS), self.going.shape[0]), torch.nan)
        metrics[:, self.held] = measured
        metrics = torch.where(self.going, metrics, torch.nan)
        self.log.append(metrics)
        loss, accuracy = metrics[2], metrics[3]
        better = (accuracy > self.accuracy) | ((accuracy == self.accuracy) & (loss < self.loss))
        self._keep(better[self.held])
        self.accuracy = torch.where(better, accuracy, self.accuracy)
        self.loss = torch.where(better, loss, self.loss)
        self.epoch = torch.where(better, epoch, self.epoch)
        self.stopped = torch.where(self.going, epoch + 1, self.stopped)
        self.going = self.going & (epoch - self.epoch < self.trainer.settings.patience)
        return metrics

    def _keep(self, better: Tensor) -> None:
        for state, optimiser in zip(self.states, self.trainer.optimisers, strict=True):
            state[self.held] = torch.where(better.unsqueeze(1), optimiser.flat, state[self.held])

    def set_aside(self) -> None:
        """Take finished runs out of the program once an eighth of those in it has finished."""
        going = self.going[self.held]
        finished = going.shape[0] - int(going.sum())
        if 0 < finished < going.shape[0] and finished >= going.shape[0] // 8:
            self.held = self.held[going]
            self.trainer.select(going.nonzero().squeeze(1))

    def restore(self) -> None:
        """Give the model all its runs again, each in its best state."""
        for state, optimiser in zip(self.states, self.trainer.optimisers, strict=True):
            optimiser.hold(state)
        self.trainer.model.epsilon = self.epsilon

    def history(self, interrupted: bool) -> History:
        """The record as tensors on the CPU."""
        metrics = torch.stack(self.log).cpu()
        return History(metrics, self.epoch.cpu(), self.stopped.cpu(), interrupted)
