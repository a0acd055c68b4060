"""Algorithm 1 with controllers that compare, and judges that have not seen what they judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ppro.compute.noise import Noise, matrix_ids, mix
from ppro.nn import losses
from ppro.nn.comparing.costs import (
    SMOOTHING,
    Judgement,
    at_step,
    common_depth,
    comparing_loss,
    priced,
    priority_gain,
    row_mean,
)
from ppro.nn.comparing.evidence import equal_scale, evidence
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.comparing.predictions import StepPredictions
from ppro.nn.comparing.sight import Sight
from ppro.nn.network import Inputs, Outcome, Rows
from ppro.parts import STRATEGIES
from ppro.settings.settings import Settings
from ppro.training.consistency import consistency_loss, ramp
from ppro.training.judges import judges_of
from ppro.training.optim import RunAdam
from ppro.training.stopping import History
from ppro.training.trainer import CONSISTENCY_RAMP, Trainer

if TYPE_CHECKING:
    from ppro.training.checkpoint import Keeper

EXPLORE_SITE, DRAW_SITE = 300_000, 300_001
HELD_KAPPA = 8.0
"""κ of a start that keeps all nodes together."""


class ComparingTrainer(Trainer):
    """Trains runs whose controllers compare steps.

    Every epoch θ learns at the steps that the controllers chose last (lines 3 to 9 of Algorithm 1),
    with chance in the choice at first. Every few epochs a pass without dropout tells what each
    step is worth to every training node, as a judge sees it that has not learned from the node;
    φ learns from that (lines 10 and 11), and the same pass validates.
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
        self.first_theta = self.theta.flat.clone()
        self.sight = self._sight()

    @property
    def networks(self) -> int:
        """Backbones of a run: its own and its judges."""
        return 1 + self.model.judges

    @property
    def every(self) -> int:
        """Epochs between two judgings, which validate too."""
        return self.settings.controllers.judge_every

    @property
    def held(self) -> bool:
        """Whether the backbone begins anew at the common depth once that is found."""
        return self.settings.controllers.start == "held"

    @property
    def consistent_steps(self) -> bool:
        """Whether nodes must agree at their chosen steps, not at step L."""
        return self.consistent and self.settings.controllers.consistency_on != "full"

    def _phi_optimiser(self) -> RunAdam:
        counts = (self.judge_rows.valid > 0).sum(-1).clamp(min=1)
        decay = torch.tensor([2 * s.controllers.controller_decay for s in self.all_settings])
        held = [(self.model.controllers.held(), decay.to(counts.device) / counts)]
        return RunAdam(self.model.phi(), self.values.lr_controller, held)

    def _program(self) -> Callable[[], None]:
        """What does an epoch: every few of them the controllers are judged and learn.

        So they are in the last epoch, since a state that nobody has validated is never kept.
        """
        last, done = self.settings.training.epochs, int(self.record.now)
        plain, judged = self._recorded(self.plain_epoch), self._recorded(self.judged_epoch)

        def epoch() -> None:
            nonlocal done
            if self.held and done == self.settings.controllers.warm_up:
                self.theta.restart(self.first_theta)
            done += 1
            (plain if done % self.every and done < last else judged)()

        return epoch

    def plain_epoch(self) -> None:
        """θ learns at the steps that were chosen last; nothing is validated."""
        loss, mean_step = self.update_backbone()
        unknown = torch.full_like(loss, torch.nan)
        self._record([loss, unknown, unknown, unknown, mean_step, unknown])

    def judged_epoch(self) -> None:
        """θ learns, then the controllers; the same pass validates."""
        loss, mean_step = self.update_backbone()
        controller_loss, val_loss, val_accuracy, logits = self.judge()
        score = val_accuracy if self.metric.is_accuracy else self._score(logits)
        self._record([loss, controller_loss, val_loss, val_accuracy, mean_step, score])

    def _record(self, measured: list[Tensor]) -> None:
        stacked = torch.stack(measured).to(self.record.log.dtype)
        self.record.update(stacked, [optimiser.by_run for optimiser in self.optimisers])

    def update_backbone(self) -> tuple[Tensor, Tensor]:
        """Lines 3-9: propagate to the chosen steps, then θ^(t+1) = θ^(t) - α_g ∇L_g."""
        rows, (runs, m), count = self.theta_rows, self.train_rows.nodes.shape, self.networks
        steps = self._steps_now().repeat_interleave(count, 0)
        outcomes = [
            self.model.at_steps(self.inputs, rows, steps, self._noise(part))
            for part in range(self.forwards)
        ]
        labels, valid = rows.labels[:, :m], rows.valid[:, :m]
        error = torch.stack([losses.prediction_error(o.logits[:, :m], labels) for o in outcomes])
        weights = self.weights.repeat_interleave(count, 0)
        loss = row_mean(weights * error, valid).mean(0)
        if self.consistent:
            loss = loss + self._consistency(outcomes, m)
        self.theta.minimise(loss.view(runs, count).sum(1))
        own = error[0].detach().view(runs, count, m)[:, 0]
        mean_step = row_mean(self.steps.to(own.dtype), self.train_rows.valid)
        return losses.supervised_loss(own, self.train_rows.valid), mean_step

    def _consistency(self, outcomes: Sequence[Outcome], m: int) -> Tensor:
        logits = [outcome.logits[:, m:] for outcome in outcomes]
        temperature = self.values.consistency_temperature.repeat_interleave(self.networks)
        share = self.values.consistency.repeat_interleave(self.networks)
        loss = consistency_loss(logits, temperature)
        return share * ramp(self.record.now, CONSISTENCY_RAMP) * loss

    def _steps_now(self) -> Tensor:
        """The steps of the rows of θ: those chosen last, or drawn while chance lasts.

        A held start looks at every step in the warm-up, keeps all nodes at the common depth for as
        long again, and then lets them choose; a start at the first step keeps them there in the
        warm-up. Shape ``[R, m]``, and all nodes behind them where
        they must agree.
        """
        wanted, now = self.settings.controllers, self.record.now
        chosen = self.steps
        if self.consistent_steps:
            chosen = torch.cat([chosen, self.everyone], 1)
        if wanted.start == "first":
            chance = now.double() * 0
            chosen = torch.where(now < wanted.warm_up, min(1, self.model.max_steps), chosen)
        elif self.held:
            chance = (now < wanted.warm_up).double()
            chosen = torch.where(now < 2 * wanted.warm_up, self.common.unsqueeze(1), chosen)
        else:
            chance = (1 - (now - wanted.warm_up) / wanted.settle).clamp(0, 1)
        nodes = self.theta_rows.nodes[:: self.networks]
        ids = matrix_ids(nodes[:, : chosen.shape[1]], 1).squeeze(-1)
        drawn = (self._uniform(ids, DRAW_SITE) * (self.model.max_steps + 1)).long()
        steps = torch.where(self._uniform(ids, EXPLORE_SITE) < chance, drawn, chosen)
        behind = nodes.shape[1] - chosen.shape[1]
        return torch.nn.functional.pad(steps, (0, behind), value=self.model.max_steps)

    def _uniform(self, ids: Tensor, site: int) -> Tensor:
        """Numbers in [0, 1) of the training rows, by the hash that drops elements."""
        keys = super()._noise(0).keys(site).unsqueeze(1)
        return (mix(ids + keys).double() + 2**31) / 2**32

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
        smooth = SMOOTHING * self.wrong + (1 - SMOOTHING) * judgement.wrong
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
        gain = priority_gain(weights, at_step(cost, path.steps), self.model.lambda1, valid)
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

    def _noise(self, part: int) -> Noise:
        """The dropout of every backbone; a judge drops by a seed of its own."""
        noise, count = super()._noise(part), self.networks
        if count == 1:
            return noise
        shift = torch.arange(count, device=noise.seeds.device, dtype=noise.seeds.dtype) * 0x9E3779B
        seeds = (noise.seeds.unsqueeze(1) + shift).flatten()
        rates = {
            name: rate.repeat_interleave(count)
            for name in ("rates", "edge_rates", "node_rates")
            if (rate := getattr(noise, name)) is not None
        }
        return replace(noise, seeds=seeds, **rates)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        for name in ("kappa", "steps", "everyone", "weights", "common"):
            setattr(self, name, getattr(self, name)[runs])
        self.wrong, self.rows = self.wrong[:, runs], self.rows.select(runs)
        own = torch.arange(self.networks, device=runs.device)
        self.first_theta = self.first_theta[(runs.unsqueeze(1) * self.networks + own).flatten()]
        super().select(runs)
        self.sight = self._sight()

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


_KEPT = ("steps", "everyone", "weights", "wrong", "common", "judgings")
"""What training changes beside θ, φ and the record."""


def _kappa(settings: Settings) -> float:
    chosen = settings.controllers
    if chosen.kappa is not None:
        return chosen.kappa
    usual: float = STRATEGIES.get(settings.strategy).kappa
    return usual if chosen.start == "explore" else HELD_KAPPA
