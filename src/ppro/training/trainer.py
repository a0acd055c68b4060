"""Training: the alternating optimisation of Algorithm 1, many runs at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ppro.compute.capture import Replay
from ppro.compute.noise import Noise
from ppro.errors import RunError
from ppro.nn import losses
from ppro.nn.looking_ahead import kept_steps, restore_steps
from ppro.nn.network import Inputs, Network, Outcome, Rows
from ppro.parts import METRICS
from ppro.settings.settings import Settings
from ppro.training.consistency import consistency_loss, ramp, with_all_nodes
from ppro.training.judges import Panel, judges_of
from ppro.training.metrics import Metric
from ppro.training.optim import RunAdam
from ppro.training.run_values import RunValues, sites_apart
from ppro.training.stopping import MEASURED, History, Record

if TYPE_CHECKING:
    from ppro.training.checkpoint import Keeper

OnEpoch = Callable[[int, Tensor, int], None]
"""Called with the number of epochs done, the last one's metrics ``[5, R]`` and the runs going."""

_ACCURACY = MEASURED.index("val_accuracy")
CONSISTENCY_RAMP = 50
"""Epochs over which the weight of consistency grows."""

_MOMENTS = ("first", "second", "steps")
"""What Adam keeps beside the parameters."""


class Trainer:
    """Trains the R runs of a model together; each stops by itself and keeps its best state.

    Args:
        settings: one per run; all must agree on everything that shapes the program.
        train: training nodes of each run.
        val: validation nodes of each run. No validation label enters a gradient (unless the
            method's own paper says so: ``judged_on``), no test label at all.
        keeper: writes a checkpoint now and then, or None.
    """

    def __init__(
        self,
        model: Network,
        inputs: Inputs,
        train: Rows,
        val: Rows,
        settings: Sequence[Settings],
        keeper: Keeper | None = None,
    ) -> None:
        self.model, self.inputs, self.val_rows = model, inputs, val
        judged = bool(model.phi()) and model.judged_on == "train"
        self.panel = judges_of(settings).panel(train, settings) if judged else Panel.of_all(train)
        self.train_rows, self.judge_rows = self.panel.learners(train), self.panel.teachers(train)
        self.settings, self.keeper = settings[0], keeper
        self.values = RunValues.stack(settings, train.nodes.device)
        self.drops_edges = any(s.training.edge_dropout > 0 for s in settings)
        self.drops_nodes = any(s.training.node_dropout > 0 for s in settings)
        self.drops_apart = sites_apart(settings)
        self.consistent = any(s.training.consistency > 0 for s in settings)
        self.fades = any(s.training.fading > 0 for s in settings)
        self.forwards = self.settings.training.consistency_forwards if self.consistent else 1
        self.theta_rows = self._theta_rows()
        self.theta = self._theta_optimiser()
        self.phi = self._phi_optimiser()
        states = [optimiser.by_run for optimiser in self.optimisers]
        chosen = self.settings.training
        self.metric: Metric = METRICS.get(chosen.metric)()
        limits = chosen.epochs, chosen.patience, chosen.selection, self.quiet
        self.record = Record(states, *limits, lower_is_better=self.metric.lower_is_better)
        self._train_of_all_runs = self.train_rows
        self._of_all_runs = {name: getattr(model, name) for name in model.run_buffers}
        self._cuda = self.record.now.is_cuda
        # Whether theta, phi and the record stand between two epochs, not inside one.
        self._whole = True

    def _theta_rows(self) -> Rows:
        """The rows that θ learns from: training nodes, and all nodes where they must agree."""
        if not self.consistent:
            return self.train_rows
        full = self.settings.controllers.consistency_on == "full"
        return with_all_nodes(self.train_rows, self.inputs.num_nodes, full_depth=full)

    def _theta_optimiser(self) -> RunAdam:
        """Adam over θ; the layers of the steps may have a decay of their own."""
        theta = self.model.theta()
        apart = {id(p) for p in (*self.model.between(), *self.model.statistics())}
        decayed = theta if self.settings.training.decay == "all" else self.model.decayed()
        outer = [p for p in decayed if id(p) not in apart]
        decays = [
            (outer, self.values.weight_decay),
            (self.model.between(), self.values.decay_of_steps),
        ]
        return RunAdam(theta, self.values.lr, decays, self.inputs.ranks, self.networks)

    def _phi_optimiser(self) -> RunAdam | None:
        phi = self.model.phi()
        ranks = self.inputs.ranks
        return RunAdam(phi, self.values.lr_controller, ranks=ranks) if phi else None

    @property
    def networks(self) -> int:
        """Networks of a run that learn θ."""
        return 1

    @property
    def quiet(self) -> int:
        """Epochs at the beginning whose states are not validated."""
        return 0

    @property
    def optimisers(self) -> list[RunAdam]:
        """Return those of θ and, where there are controllers, φ."""
        return [self.theta] if self.phi is None else [self.theta, self.phi]

    def run(self, on_epoch: OnEpoch | None = None) -> History:
        """Algorithm 1 until every run has stopped; the model ends up in each run's best state.

        Ctrl-C ends it after the current epoch, in the best states so far. On a GPU the host looks
        only now and then.
        """
        look_every = 10 if self._cuda else 1
        done, going, interrupted = int(self.record.now), int(self.record.going.sum()), False
        try:
            with self.inputs.ranks.interrupts() as ctrl_c:
                do_epoch = self._between_epochs(None)
                while done < self.settings.training.epochs and going:
                    ctrl_c.check()
                    self._whole = False
                    do_epoch()
                    self._whole = True
                    done += 1
                    if done % look_every:
                        continue
                    going = int(self.record.going.sum())
                    if on_epoch is not None:
                        on_epoch(done, self.record.log[done - 1], going)
                    do_epoch = self._between_epochs(do_epoch)
                ctrl_c.check()
        except KeyboardInterrupt:
            if done < min(self.quiet + 1, self.settings.training.epochs):
                raise
            interrupted = True
        return self._end(interrupted)

    def _between_epochs(self, do_epoch: Callable[[], None] | None) -> Callable[[], None]:
        """Let go of runs that have finished, save if it is time; returns what does an epoch."""
        if (runs := self.record.finished(0.5 if self._cuda else 0.1)) is not None:
            self.select(runs)
            do_epoch = None
        if self.keeper is not None:
            self.keeper.offer(self.state)
        return self.program() if do_epoch is None else do_epoch

    def program(self) -> Callable[[], None]:
        """What does an epoch."""
        return self._recorded(self.epoch)

    def _recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """On a GPU the work as one CUDA graph, where it never waits for the device."""
        capturable = self.model.capturable and self.metric.is_accuracy
        return Replay(work) if self._cuda and capturable else work

    def _end(self, interrupted: bool) -> History:
        """Save where training stands, then leave the model in the best state of each run."""
        if self.keeper is not None and self._whole:
            # A training that has come to its end is not lost for want of room for a checkpoint.
            with nullcontext() if interrupted else suppress(RunError):
                self.keeper.save(self.state())
        for name, value in self._of_all_runs.items():
            setattr(self.model, name, value)
        for best, optimiser in zip(self.record.states, self.optimisers, strict=True):
            optimiser.hold_by_run(best)
        self.model.settle(self.inputs, self._train_of_all_runs)
        return self.record.history(interrupted)

    def state(self) -> dict[str, Tensor]:
        """All that training has changed. Dropout counts epochs, so no generator has a state."""
        kept = {f"record.{name}": value for name, value in self.record.state().items()}
        for i, optimiser in enumerate(self.optimisers):
            kept |= {f"adam.{i}.{name}": getattr(optimiser, name) for name in ("flat", *_MOMENTS)}
        return kept | kept_steps(self.model)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Bring a trainer that has just been made to where :meth:`state` was taken.

        Args:
            state: tensors of its own, on this trainer's device: training changes them in place.
        """
        self.record.restore({name: state[f"record.{name}"] for name in self.record.state()})
        self.select(self.record.held)
        restore_steps(self.model, state)
        for i, optimiser in enumerate(self.optimisers):
            optimiser.hold(state[f"adam.{i}.flat"])
            for name in _MOMENTS:
                setattr(optimiser, name, state[f"adam.{i}.{name}"])

    def epoch(self) -> None:
        """One round of Algorithm 1 for every run, and its validation."""
        train_loss, mean_step = self.update_backbone()
        controller_loss = self.update_controllers()
        val_loss, val_accuracy, logits = self.validate()
        added = torch.stack([train_loss, controller_loss, val_loss, val_accuracy, mean_step])
        added = self.inputs.ranks.sum(added)
        score = added[_ACCURACY] if self.metric.is_accuracy else self._score(logits)
        measured = torch.cat([added, score.unsqueeze(0)]).to(self.record.log.dtype)
        self.record.update(measured, [optimiser.by_run for optimiser in self.optimisers])

    def update_backbone(self) -> tuple[Tensor, Tensor]:
        """Lines 3-9: propagate with θ^(t), φ^(t), then θ^(t+1) = θ^(t) - α_g ∇L_g.

        Returns the mean error and the mean step of the training nodes.
        """
        rows, m = self.train_rows, self.train_rows.nodes.shape[1]
        outcomes = [
            self.model(self.inputs, self.theta_rows, self._noise(part))
            for part in range(self.forwards)
        ]
        error = torch.stack(
            [losses.prediction_error(o.logits[:, :m], rows.labels) for o in outcomes]
        )
        weights = torch.stack([o.weights[:, :m] for o in outcomes])
        counted = rows.valid, rows.total
        weights = self.model.scaled(weights, *counted, self.inputs.ranks)
        loss = losses.node_mean(weights * error, *counted).mean(0)
        if self.fades:
            mean = self.inputs.ranks.sum(losses.node_mean(error.detach(), *counted).mean(0))
            loss = losses.faded(loss, mean, self.values.fading)
        if self.consistent:
            loss = loss + self._consistency(outcomes, m)
        self.theta.minimise(loss)
        steps = losses.node_mean(outcomes[0].steps[:, :m].to(error.dtype), *counted)
        return losses.supervised_loss(error[0].detach(), *counted), steps

    def _consistency(self, outcomes: Sequence[Outcome], m: int) -> Tensor:
        """What is asked of the predictions of all nodes besides (see :mod:`.consistency`)."""
        weighed = self.settings.controllers.consistency_on == "priority"
        weights = outcomes[0].weights[:, m:] if weighed else None
        logits = [outcome.logits[:, m:] for outcome in outcomes]
        loss = consistency_loss(logits, self.values.consistency_temperature, weights)
        return self.values.consistency * ramp(self.record.now, CONSISTENCY_RAMP) * loss

    def update_controllers(self) -> Tensor:
        """Lines 10-11: repeat with θ^(t+1), then φ^(t+1) = φ^(t) - α_F ∇L_Controller."""
        if self.phi is None:
            return torch.zeros_like(self.values.lr)
        rows = self.val_rows if self.model.judged_on == "val" else self.judge_rows
        loss = self.model.controller_loss(self.inputs, rows, self._noise(self.forwards))
        if loss.requires_grad:
            self.phi.minimise(loss)
        return loss.detach()

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss and accuracy of every run, and the logits behind them."""
        rows, counted = self.val_rows, (self.val_rows.valid, self.val_rows.total)
        logits = self.model(self.inputs, rows).logits
        loss = losses.supervised_loss(losses.prediction_error(logits, rows.labels), *counted)
        hits = (logits.argmax(-1) == rows.labels).to(loss.dtype)
        return loss, losses.node_mean(hits, *counted), logits

    @torch.no_grad()
    def _score(self, logits: Tensor) -> Tensor:
        """Return the metric of every run, over the validation nodes of all ranks. Shape ``[R]``."""
        ranks, rows = self.inputs.ranks, self.val_rows
        gathered = (ranks.gather(part) for part in (logits.softmax(-1), rows.labels, rows.valid))
        return self.metric.of_runs(*gathered).to(logits.device)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        self.values = self.values.select(runs)
        self.train_rows, self.val_rows = self.train_rows.select(runs), self.val_rows.select(runs)
        self.judge_rows, self.panel = self.judge_rows.select(runs), self.panel.select(runs)
        self.theta_rows = self._theta_rows()
        for name in self.model.run_buffers:
            setattr(self.model, name, getattr(self.model, name)[runs])
        for optimiser in self.optimisers:
            optimiser.select(runs)

    def _noise(self, part: int) -> Noise:
        moment = ((self.forwards + 1) * self.record.now + part).to(torch.int32)
        edge_rates = self.values.edge_dropout if self.drops_edges else None
        node_rates = self.values.node_dropout if self.drops_nodes else None
        rates = self.values.dropout, moment, edge_rates, node_rates
        sites = {site: getattr(self.values, name) for site, name in self.drops_apart.items()}
        return Noise(self.values.seeds, *rates, self.inputs.nodes, sites)
