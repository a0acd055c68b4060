"""What each step is worth to the training nodes, and what the controllers learn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ppro.nn import losses
from ppro.nn.comparing.costs import (
    SMOOTHING,
    Judgement,
    at_step,
    common_depth,
    comparing_loss,
    penalty,
    priced,
    priority_gain,
    row_mean,
)
from ppro.nn.comparing.evidence import equal_scale, evidence
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.comparing.predictions import StepPredictions
from ppro.nn.comparing.sight import Sight
from ppro.nn.network import Inputs, Rows
from ppro.parts import STRATEGIES
from ppro.settings.settings import Settings
from ppro.training.judges import judges_of
from ppro.training.optim import RunAdam
from ppro.training.stopping import History
from ppro.training.trainer import Trainer

if TYPE_CHECKING:
    from ppro.training.checkpoint import Keeper

HELD_KAPPA = 8.0
"""κ of a start that keeps all nodes together."""
_KEPT = ("steps", "everyone", "weights", "wrong", "common", "judgings")
"""What training changes beside θ, φ and the record."""


class JudgedTrainer(Trainer):
    """Lines 10 and 11 of Algorithm 1 for controllers that compare steps.

    A pass without dropout tells what each step is worth to every training node, as the backbone
    sees it that looks at the node (:class:`ppro.training.judges.Panel`); φ learns from that,
    steps and priorities are chosen anew, and the same pass validates.

    Attributes:
        steps: l of the training rows as chosen last. Shape ``[R, m]``.
        weights: their priorities, of mean 1. Shape ``[R, m]``.
        everyone: l of all nodes, where they must agree at their steps. Shape ``[R, n]``.
        wrong: smoothed errors of every step. Shape ``[L + 1, R, m]``.
        common: the common depth. Shape ``[R]``.
    """

    model: ComparingNetwork
    phi: RunAdam

    def __init__(
        self,
        model: ComparingNetwork,
        inputs: Inputs,
        train: Rows,
        val: Rows,
        settings: Sequence[Settings],
        keeper: Keeper | None = None,
    ) -> None:
        self.all_settings, self.rows = settings, train
        model.add_judges(judges_of(settings).backbones(settings[0].controllers))
        self.kappa = torch.tensor([_kappa(s) for s in settings], device=train.nodes.device)
        self.steps = torch.zeros_like(train.nodes)
        self.everyone = train.nodes.new_zeros(train.nodes.shape[0], inputs.num_nodes)
        self.weights = torch.ones_like(train.valid)
        self.wrong = train.valid.new_zeros(model.max_steps + 1, *train.nodes.shape)
        self.judgings = torch.zeros((), dtype=torch.int64, device=train.nodes.device)
        self.common = torch.full_like(train.nodes[:, 0], model.max_steps)
        super().__init__(model, inputs, train, val, settings, keeper)
        self.sight, self.own_sight = self._sight(), self._own_sight()

    @property
    def networks(self) -> int:
        """Backbones of a run: its own and its judges."""
        return 1 + self.model.judges

    @property
    def consistent_steps(self) -> bool:
        """Whether nodes must agree at their chosen steps, not at step L."""
        return self.consistent and self.settings.controllers.consistency_on != "full"

    def _phi_optimiser(self) -> RunAdam:
        counts = (self.judge_rows.valid > 0).sum(-1).clamp(min=1)
        decay = torch.tensor([2 * s.controllers.controller_decay for s in self.all_settings])
        held = [(self.model.controllers.held(), decay.to(counts.device) / counts)]
        return RunAdam(self.model.phi(), self.values.lr_controller, held)

    def judge(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Lines 10-11: judge every step under θ^(t+1), let φ learn, choose anew, validate.

        Returns the loss of φ, validation loss and accuracy, and the logits behind them.
        """
        with torch.no_grad():
            predictions = self.model.predictions(self.sight)
            x, cost = self._judged(predictions)
        loss = torch.zeros_like(self.values.lr)
        for _ in range(self.settings.controllers.judge_every):
            loss = self._controller_loss(x, cost)
            self.phi.minimise(loss)
        with torch.no_grad():
            controllers = self.model.controllers
            self.steps.copy_(controllers.follow(self.model.strategy, x).steps)
            if self.settings.controllers.use_weighting:
                chosen = at_step(x, self.steps)
                self.weights.copy_(controllers.weights(chosen, self.train_rows.valid))
                mean = row_mean(controllers.raw_weight(chosen), self.judge_rows.valid)
                controllers.mean_weight.data.copy_(mean.unsqueeze(-1))
            if self.consistent_steps:
                self.everyone.copy_(self._steps_of_all(predictions))
            return loss.detach(), *self._validated(predictions)

    def _sight(self) -> Sight:
        """What the backbones look at: training nodes by view, validation nodes, or all nodes."""
        count, model = self.networks * self.rows.nodes.shape[0], self.model
        if self.consistent_steps:
            return Sight.of_all(self.inputs, count)
        train, val = self.rows.nodes, self.val_rows.nodes
        wanted = [(train, model.own(train) + self.panel.view), (val, model.own(val))]
        return Sight.of(self.inputs, count, wanted)

    def _own_sight(self) -> Sight:
        """What the runs' own backbones look at when they are validated."""
        nodes = self.val_rows.nodes
        runs = torch.arange(nodes.shape[0], device=nodes.device).unsqueeze(1)
        return Sight.of(self.inputs, nodes.shape[0], [(nodes, runs.expand_as(nodes))])

    def _steps_of_all(self, predictions: StepPredictions) -> Tensor:
        """The step of every node, as the run's own backbone sees it. Shape ``[R, n]``."""
        model, n = self.model, self.inputs.num_nodes
        nodes = torch.arange(n, device=self.steps.device).expand(self.steps.shape[0], -1)
        return model.choose(predictions, nodes)[0]

    def _judged(self, predictions: StepPredictions) -> tuple[Tensor, Tensor]:
        """Standardised evidence of the training rows, and what each step costs them."""
        rows, controllers = self.judge_rows, self.model.controllers
        backbone = self.model.own(rows.nodes) + self.panel.view
        scores, near, z = predictions.seen(rows.nodes, backbone)
        controllers.learn_scale(equal_scale(scores, rows.valid))
        p = controllers.scaled(scores)
        judgement = Judgement.of(p, rows.labels)
        past = SMOOTHING**self.settings.controllers.judge_every
        smooth = past * self.wrong + (1 - past) * judgement.wrong
        self.wrong.copy_(torch.where(self.judgings == 0, judgement.wrong, smooth))
        self.judgings.add_(1)
        held = self.record.now >= self.settings.controllers.warm_up
        common = common_depth(self.wrong, rows.valid)
        self.common.copy_(torch.where(held & (self.judgings > 1), self.common, common))
        x = evidence(p, near, z)
        controllers.learn_statistics(x, rows.valid)
        cost = priced(judgement.cost, self.common, rows.valid, self.kappa)
        return controllers.standardised(x), cost

    def _controller_loss(self, x: Tensor, cost: Tensor) -> Tensor:
        """L_Controller = L_p - λ2 L_w (Eq. 14), of comparing controllers. Shape ``[R]``."""
        valid, controllers = self.judge_rows.valid, self.model.controllers
        path = controllers.follow(self.model.strategy, x, cost)
        assert path.gains is not None
        loss = comparing_loss(path.logits, path.gains, valid)
        if not self.settings.controllers.use_weighting:
            return loss
        weights = controllers.weights(at_step(x, path.steps), valid)
        lambda1 = penalty(self.model.lambda1, valid)
        gain = priority_gain(weights, at_step(cost, path.steps), lambda1, valid)
        return loss - self.model.lambda2 * gain

    def _validated(self, predictions: StepPredictions) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss and accuracy of every run at the steps of its nodes, and the logits."""
        rows, model = self.val_rows, self.model
        own = model.own(rows.nodes)
        x = model.evidence(predictions, rows.nodes, own)
        steps = model.controllers.follow(model.strategy, x).steps
        logits = at_step(predictions.seen(rows.nodes, own)[0], steps)
        loss = losses.supervised_loss(losses.prediction_error(logits, rows.labels), rows.valid)
        hits = (logits.argmax(-1) == rows.labels).to(loss.dtype)
        return loss, losses.node_mean(hits, rows.valid), logits

    def _theta_rows(self) -> Rows:
        """The rows of every backbone: a judge does not learn from the nodes that it judges."""
        count, rows = self.networks, super()._theta_rows()
        valid = (self.rows.valid.unsqueeze(1) * self.panel.learns).flatten(0, 1)
        valid = torch.nn.functional.pad(valid, (0, rows.nodes.shape[1] - valid.shape[1]))
        nodes, labels = (part.repeat_interleave(count, 0) for part in (rows.nodes, rows.labels))
        return Rows(nodes, labels, valid, rows.free)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        for name in ("kappa", "steps", "everyone", "weights", "common"):
            setattr(self, name, getattr(self, name)[runs])
        self.wrong, self.rows = self.wrong[:, runs], self.rows.select(runs)
        super().select(runs)
        self.sight, self.own_sight = self._sight(), self._own_sight()

    def state(self) -> dict[str, Tensor]:
        """All that training has changed."""
        return super().state() | {f"judged.{name}": getattr(self, name) for name in _KEPT}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Bring a trainer that has just been made to where :meth:`state` was taken."""
        super().restore(state)
        for name in _KEPT:
            setattr(self, name, state[f"judged.{name}"])

    def _end(self, interrupted: bool) -> History:
        history = super()._end(interrupted)
        self.model.drop_judges()
        return history


def _kappa(settings: Settings) -> float:
    chosen = settings.controllers
    if chosen.kappa is not None:
        return chosen.kappa
    usual: float = STRATEGIES.get(settings.strategy).kappa
    return usual if chosen.start == "explore" else HELD_KAPPA
