"""Algorithm 1 with controllers that compare, and judges that have not seen what they judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ppro.compute.noise import Noise, matrix_ids, mix
from ppro.nn import losses
from ppro.nn.comparing.costs import row_mean
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.network import Inputs, Outcome, Rows
from ppro.settings.settings import Settings
from ppro.training.consistency import consistency_loss, ramp
from ppro.training.judging import JudgedTrainer
from ppro.training.trainer import CONSISTENCY_RAMP

if TYPE_CHECKING:
    from ppro.training.checkpoint import Keeper

EXPLORE_SITE, DRAW_SITE = 300_000, 300_001


class ComparingTrainer(JudgedTrainer):
    """Trains runs whose controllers compare steps.

    Every epoch θ learns at the steps that the controllers chose last (lines 3 to 9 of Algorithm 1),
    with chance in the choice at first. Every few epochs a pass without dropout tells what each
    step is worth to every training node, as a judge sees it that has not learned from the node;
    φ learns from that (lines 10 and 11), and the same pass validates.
    """

    def __init__(
        self,
        model: ComparingNetwork,
        inputs: Inputs,
        train: Rows,
        val: Rows,
        settings: Sequence[Settings],
        keeper: Keeper | None = None,
    ) -> None:
        super().__init__(model, inputs, train, val, settings, keeper)
        self.first_theta = self.theta.flat.clone()

    @property
    def held(self) -> bool:
        """Whether the backbone begins anew at the common depth once that is found."""
        return self.settings.controllers.start == "held"

    def program(self) -> Callable[[], None]:
        """What does an epoch: every few of them the controllers are judged and learn."""
        every, done = self.settings.controllers.judge_every, int(self.record.now)
        plain, judged = self._recorded(self.plain_epoch), self._recorded(self.judged_epoch)

        def epoch() -> None:
            nonlocal done
            if self.held and done == self.settings.controllers.warm_up:
                self.theta.restart(self.first_theta)
            done += 1
            (plain if done % every else judged)()

        return epoch

    def plain_epoch(self) -> None:
        """θ learns at the steps that were chosen last; the runs' own backbones are validated."""
        loss, mean_step = self.update_backbone()
        with torch.no_grad(), self.model.alone():
            validated = self._validated(self.model.predictions(self.own_sight))
        self._record(loss, torch.full_like(loss, torch.nan), mean_step, validated)

    def judged_epoch(self) -> None:
        """θ learns, then the controllers; the same pass validates."""
        loss, mean_step = self.update_backbone()
        controller_loss, *validated = self.judge()
        self._record(loss, controller_loss, mean_step, validated)

    def _record(
        self, loss: Tensor, controller_loss: Tensor, mean_step: Tensor, validated: Sequence[Tensor]
    ) -> None:
        """Keep what an epoch measured; no state of the warm-up can be the best."""
        val_loss, val_accuracy, logits = validated
        score = val_accuracy if self.metric.is_accuracy else self._score(logits)
        early = self.record.now < self.quiet
        val_loss, val_accuracy, score = (
            torch.where(early, torch.nan, value) for value in (val_loss, val_accuracy, score)
        )
        measured = [loss, controller_loss, val_loss, val_accuracy, mean_step, score]
        stacked = torch.stack(measured).to(self.record.log.dtype)
        self.record.update(stacked, [optimiser.by_run for optimiser in self.optimisers])

    @property
    def quiet(self) -> int:
        """Epochs at the beginning whose states do not count: those of the warm-up."""
        warm_up = self.settings.controllers.warm_up
        return warm_up if warm_up < self.settings.training.epochs else 0

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
        if self.fades:
            mean = row_mean(error.detach(), valid).mean(0)
            loss = losses.faded(loss, mean, self.values.fading.repeat_interleave(count))
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
        return share * ramp(self.age, CONSISTENCY_RAMP) * loss

    @property
    def age(self) -> Tensor:
        """Epochs that the backbone has learned: a held start begins anew after the warm-up."""
        now, begun = self.record.now, self.settings.controllers.warm_up
        return torch.where(now >= begun, now - begun, now) if self.held else now

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
        sites = {k: rate.repeat_interleave(count) for k, rate in noise.site_rates.items()}
        return replace(noise, seeds=seeds, site_rates=sites, **rates)

    def select(self, runs: Tensor) -> None:
        """Go on with some of the runs only."""
        own = torch.arange(self.networks, device=runs.device)
        self.first_theta = self.first_theta[(runs.unsqueeze(1) * self.networks + own).flatten()]
        super().select(runs)
