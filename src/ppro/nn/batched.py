"""PPro: a backbone whose nodes propagate as far as the controllers say."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import torch
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.compute.ranks import ALONE, Ranks
from ppro.nn import losses
from ppro.nn.backbones import Backbone
from ppro.nn.controllers import Controllers
from ppro.nn.forward_pass import Pass
from ppro.nn.network import Inputs, Outcome, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.priority import measures_of
from ppro.nn.strategies import Strategy
from ppro.nn.strategies.full_depth import FullDepth
from ppro.nn.wrapped import Wrapped
from ppro.parts import BACKBONES, STRATEGIES
from ppro.settings.controllers import ControllerSettings
from ppro.settings.settings import Settings

SMALLEST_MEAN = 1e-9
"""Keeps priorities finite where all of them are 0."""


class PProNetwork(Wrapped):
    """Backbone + propagation controller + weight controller, for R runs at once.

    Args:
        backbone: the graph neural network.
        controllers: both controllers, or None to train the bare backbone.
        settings: one per run.

    Attributes:
        strategy: how nodes choose their step.
        max_steps: L.
        parts: which parts are switched on; the paper's ablations switch one off.
        changing: the priority measures of embeddings.
        epsilon: the threshold ε of each run. Shape ``[R, 1]``.
        lambda1: λ1 of each run. Shape ``[R]``.
        lambda2: λ2 of each run. Shape ``[R]``.
        criterion: C(y, ŷ) of each row from logits ``[R, m, c]`` and labels ``[R, m]``.
    """

    run_buffers: ClassVar[tuple[str, ...]] = ("epsilon", "lambda1", "lambda2")

    controllers: Controllers | None
    epsilon: Tensor
    lambda1: Tensor
    lambda2: Tensor

    def __init__(
        self,
        backbone: Backbone,
        controllers: Controllers | None,
        settings: Sequence[Settings],
    ) -> None:
        super().__init__()
        first = settings[0]
        self.backbone, self.controllers = backbone, controllers
        self.strategy: type[Strategy] = STRATEGIES.get(first.strategy)
        self.max_steps = first.network.max_steps
        self.parts: ControllerSettings = first.controllers
        self.changing = measures_of(first.controllers.measures)[1]
        self.capturable = backbone.capturable
        self.criterion: Callable[[Tensor, Tensor], Tensor] = losses.prediction_error
        for name in self.run_buffers:
            values = torch.tensor([getattr(s.controllers, name) for s in settings])
            shaped = values.view(-1, 1) if name == "epsilon" else values
            self.register_buffer(name, shaped, persistent=False)

    @classmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """PPro around the backbone that the settings name."""
        backbone: Backbone = BACKBONES.get(settings[0].backbone)(sizes, settings[0].network)
        return cls.around(backbone, sizes, settings)

    @classmethod
    def around(cls, backbone: Backbone, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """PPro around a backbone: controllers and parts as the settings say."""
        chosen = settings[0].controllers
        controllers = None
        if STRATEGIES.get(settings[0].strategy).learns:
            controllers = Controllers(
                sizes.rngs,
                sizes.classes if chosen.controller_inputs == "predictions" else backbone.width,
                chosen.controller_units,
                [float(s.controllers.propagation_bias or 0.0) for s in settings],
                chosen.weight_form,
                num_measures=len(chosen.measures),
                scaled=chosen.use_weighting and chosen.priority_scale == "mean",
                progress=chosen.use_progress,
            )
        return cls(backbone, controllers, settings)

    @property
    def shows_priority(self) -> bool:
        """Whether a pass works z out for the controllers."""
        return self.controllers is not None

    @property
    def chooses(self) -> bool:
        """Tell whether nodes choose their step; else all of them take L."""
        return self.controllers is not None and self.parts.use_propagation

    def forward(
        self,
        inputs: Inputs,
        rows: Rows,
        noise: Noise | None = None,
        watch: Callable[[Strategy], Strategy] | None = None,
    ) -> Outcome:
        """Lines 3-9 of Algorithm 1: propagate, choose the step of each row, weigh it, classify.

        Gradients reach the backbone alone, through h_{l_i}.

        Args:
            watch: puts a strategy of its own around this one, to see every step.
        """
        pass_ = Pass(self, inputs, rows, noise, watched=watch is not None)
        strategy = self._strategy_of(pass_)
        if watch is not None:
            strategy = watch(strategy)
        h_tilde = pass_.run(strategy)
        logits = self.backbone.classify(h_tilde, pass_.h0_rows, rows.nodes, noise)
        with torch.no_grad():
            weights = self._weights(pass_, h_tilde)
        return Outcome(logits, h_tilde, pass_.steps, weights)

    def controller_loss(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Line 10 and the loss of line 11: the same forward pass, now judged for the controllers.

        Gradients reach the controllers alone. Shape ``[R]``.
        """
        with torch.no_grad():
            pass_ = Pass(self, inputs, rows, noise, learning=True)
        strategy = self._strategy_of(pass_)
        with torch.no_grad():
            h_tilde = pass_.run(strategy)
            error = pass_.error(h_tilde)
        propagation = strategy.loss(error)
        if not self.parts.use_weighting:
            return propagation
        weights, counted = self._weights(pass_, h_tilde), (rows.valid, rows.total)
        if (mean := self._mean_weight) is None:
            weighting = losses.weighted_loss(error, weights, self.lambda1, *counted)
        else:
            raw, ranks = weights * mean.detach(), inputs.ranks
            weighting = losses.priority_gain(raw, error, self.lambda1, *counted, ranks)
        return losses.controller_loss(propagation, weighting, self.lambda2)

    def scaled(
        self, weights: Tensor, valid: Tensor, total: Tensor | None = None, ranks: Ranks = ALONE
    ) -> Tensor:
        """Return priorities of mean 1 where the settings ask for it, and keep that mean."""
        if (kept := self._mean_weight) is None:
            return weights
        mean = ranks.sum(losses.node_mean(weights, valid, total)).clamp(min=SMALLEST_MEAN)
        mean = mean.unsqueeze(-1)
        kept.data.mul_(mean.view(-1, *kept.shape).mean(0)).clamp_(min=SMALLEST_MEAN)
        return weights / mean

    @torch.no_grad()
    def settle(self, inputs: Inputs, rows: Rows) -> None:
        """Bring the priorities of a pass without dropout to mean 1 over the training rows."""
        if self._mean_weight is not None:
            weights = self(inputs, rows).weights
            self.scaled(weights, rows.valid, rows.total, inputs.ranks)

    @property
    def _mean_weight(self) -> Tensor | None:
        """The mean that priorities are divided by, or None where they are as Eq. 11 gives them."""
        return None if self.controllers is None else self.controllers.mean_weight

    def _strategy_of(self, pass_: Pass) -> Strategy:
        made: Strategy = (self.strategy if self.chooses else FullDepth)(pass_)
        return made

    def _weights(self, pass_: Pass, h_tilde: Tensor) -> Tensor:
        """w_i (Eq. 11), or 1 without a weight controller."""
        if self.controllers is None or not self.parts.use_weighting:
            return torch.ones_like(pass_.rows.valid)
        free = pass_.rows.free
        depth = pass_.steps[:, :free].to(h_tilde.dtype) / self.max_steps
        weights = self.controllers.weight(
            pass_.shared(weighting=True),
            pass_.seen(h_tilde[:, :free]),
            depth if self.parts.use_step else None,
        )
        if free is None:
            return weights
        return torch.cat([weights, torch.ones_like(pass_.rows.valid[:, free:])], dim=1)
