"""Training: the alternating optimisation of Algorithm 1, many runs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro import losses
from ppro.capture import Replay
from ppro.config import Settings
from ppro.network import Inputs, Network, Rows
from ppro.noise import Noise
from ppro.optim import RunAdam
from ppro.stopping import History, Record

OnEpoch = Callable[[int, Tensor, int], None]
"""Called with the number of epochs done, the last one's metrics ``[5, R]`` and the runs going."""


@dataclass(frozen=True, eq=False)
class RunValues:
    """The settings that differ between runs, one value per run. All of shape ``[R]``."""

    seeds: Tensor
    dropout: Tensor
    edge_dropout: Tensor
    lr: Tensor
    lr_controller: Tensor
    weight_decay: Tensor
    decay_of_steps: Tensor
    lambda1: Tensor
    lambda2: Tensor

    @classmethod
    def stack(cls, settings: Sequence[Settings], device: torch.device) -> RunValues:
        """Collect them from the settings of every run."""

        def column(key: str, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.tensor([getattr(s, key) for s in settings], dtype=dtype, device=device)

        keys = [name for name in cls.__dataclass_fields__ if name != "seeds"]
        seeds = Noise.hashed_seeds(column("seed", torch.int64))
        return cls(seeds, *(column(key) for key in keys))

    def select(self, runs: Tensor) -> RunValues:
        """The values of some of the runs."""
        return RunValues(*(getattr(self, name)[runs] for name in self.__dataclass_fields__))


class Trainer:
    """Trains the R runs of a model together; each stops by itself and keeps its best state.

    Args:
        settings: one per run; all must agree on everything that shapes the program.
        train, val: training and validation nodes of each run. No validation label enters a
            gradient (unless the method's own paper says so: ``judged_on``), no test label at all.
    """

    def __init__(
        self,
        model: Network,
        inputs: Inputs,
        train: Rows,
        val: Rows,
        settings: Sequence[Settings],
    ) -> None:
        self.model, self.inputs, self.train_rows, self.val_rows = model, inputs, train, val
        self.settings = settings[0]
        self.values = RunValues.stack(settings, train.nodes.device)
        self.drops_edges = any(s.edge_dropout > 0 for s in settings)
        self.theta = self._theta_optimiser()
        self.phi = self._phi_optimiser()
        states = [optimiser.flat for optimiser in self.optimisers]
        self.record = Record(states, self.settings.epochs, self.settings.patience)

    def _theta_optimiser(self) -> RunAdam:
        """Adam over θ; the layers of the steps may have a decay of their own."""
        theta = self.model.theta()
        between = {id(p) for p in self.model.between()}
        decayed = theta if self.settings.decay == "all" else self.model.decayed()
        outer = [p for p in decayed if id(p) not in between]
        decays = [
            (outer, self.values.weight_decay),
            (self.model.between(), self.values.decay_of_steps),
        ]
        return RunAdam(theta, self.values.lr, decays)

    def _phi_optimiser(self) -> RunAdam | None:
        phi = self.model.phi()
        return RunAdam(phi, self.values.lr_controller) if phi else None

    @property
    def optimisers(self) -> list[RunAdam]:
        """Those of θ and, where there are controllers, φ."""
        return [self.theta] if self.phi is None else [self.theta, self.phi]

    def run(self, on_epoch: OnEpoch | None = None) -> History:
        """Algorithm 1 until every run has stopped; the model ends up in each run's best state.

        Ctrl-C ends it early, in the best states so far. On a GPU the host looks only now and then.
        """
        cuda = self.record.now.is_cuda
        look_every, spare_at = (10, 0.5) if cuda else (1, 0.1)
        replayed = cuda and self.model.capturable
        do_epoch = Replay(self.epoch) if replayed else self.epoch
        of_all_runs = {name: getattr(self.model, name) for name in self.model.run_buffers}
        interrupted, done = False, 0
        try:
            while done < self.settings.epochs:
                do_epoch()
                done += 1
                if done % look_every:
                    continue
                going = int(self.record.going.sum())
                if on_epoch is not None:
                    on_epoch(done, self.record.log[done - 1], going)
                if not going:
                    break
                if (runs := self.record.finished(spare_at)) is not None:
                    self.select(runs)
                    do_epoch = Replay(self.epoch) if replayed else self.epoch
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        for name, value in of_all_runs.items():
            setattr(self.model, name, value)
        for best, optimiser in zip(self.record.states, self.optimisers, strict=True):
            optimiser.hold(best)
        return self.record.history(interrupted)

    def epoch(self) -> None:
        """One round of Algorithm 1 for every run, and its validation."""
        train_loss, mean_step = self.update_backbone()
        controller_loss = self.update_controllers()
        val_loss, val_accuracy = self.validate()
        measured = torch.stack([train_loss, controller_loss, val_loss, val_accuracy, mean_step])
        self.record.update(measured, [optimiser.flat for optimiser in self.optimisers])

    def update_backbone(self) -> tuple[Tensor, Tensor]:
        """Lines 3-9: propagate with θ^(t), φ^(t), then θ^(t+1) = θ^(t) - α_g ∇L_g.

        Returns the mean error and the mean step of the training nodes.
        """
        rows = self.train_rows
        outcome = self.model(self.inputs, rows, self._noise(0))
        error = losses.prediction_error(outcome.logits, rows.labels)
        self.theta.minimise(
            losses.weighted_loss(error, outcome.weights, self.values.lambda1, rows.valid)
        )
        steps = losses.node_mean(outcome.steps.to(error.dtype), rows.valid)
        return losses.supervised_loss(error.detach(), rows.valid), steps

    def update_controllers(self) -> Tensor:
        """Lines 10-11: repeat with θ^(t+1), then φ^(t+1) = φ^(t) - α_F ∇L_Controller."""
        if self.phi is None:
            return torch.zeros_like(self.values.lr)
        rows = self.val_rows if self.model.judged_on == "val" else self.train_rows
        loss = self.model.controller_loss(
            self.inputs, rows, self._noise(1), self.values.lambda1, self.values.lambda2
        )
        if loss.requires_grad:
            self.phi.minimise(loss)
        return loss.detach()

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor]:
        """Validation loss and accuracy of every run."""
        rows = self.val_rows
        logits = self.model(self.inputs, rows).logits
        loss = losses.supervised_loss(losses.prediction_error(logits, rows.labels), rows.valid)
        hits = (logits.argmax(-1) == rows.labels).to(loss.dtype)
        return loss, losses.node_mean(hits, rows.valid)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        self.values = self.values.select(runs)
        self.train_rows, self.val_rows = self.train_rows.select(runs), self.val_rows.select(runs)
        for name in self.model.run_buffers:
            setattr(self.model, name, getattr(self.model, name)[runs])
        for optimiser in self.optimisers:
            optimiser.select(runs)

    def _noise(self, part: int) -> Noise:
        moment = (2 * self.record.now + part).to(torch.int32)
        edge_rates = self.values.edge_dropout if self.drops_edges else None
        return Noise(self.values.seeds, self.values.dropout, moment, edge_rates)
