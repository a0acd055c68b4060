"""PPro with controllers that compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Self

import torch
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.compute.noise import Noise
from ppro.errors import SettingsError
from ppro.nn import losses
from ppro.nn.backbones import Backbone
from ppro.nn.comparing.controllers import ComparingControllers
from ppro.nn.comparing.costs import at_step
from ppro.nn.comparing.evidence import centred_scores, evidence, log_predictions
from ppro.nn.comparing.predictions import StepPredictions
from ppro.nn.comparing.sight import Sight
from ppro.nn.forward_pass import Pass
from ppro.nn.network import Inputs, Outcome, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.priority import measures_of
from ppro.nn.strategies import Strategy
from ppro.nn.strategies.given import EveryStep, GivenSteps
from ppro.nn.wrapped import Wrapped
from ppro.parts import BACKBONES, STRATEGIES
from ppro.settings.controllers import ControllerSettings
from ppro.settings.settings import PPRO, Settings

BLOCK_ROWS, AT_ONCE = 32_768, 2**22
"""Rows whose evidence is held at a time, and numbers of logits that are read at a time."""


def compares(settings: Settings) -> bool:
    """Tell whether the settings have controllers that compare steps."""
    wanted = settings.model == PPRO and settings.controllers.teaching == "compare"
    return wanted and bool(STRATEGIES.get(settings.strategy).learns)


class ComparingNetwork(Wrapped):
    """A backbone, and controllers that compare its steps by what it predicts there.

    While it trains, every run may have judges: further backbones of the same kind, each blind to
    some of the training nodes. A run's backbones lie together, its own first.

    Args:
        backbone: the graph neural network of every run.
        settings: one per run.

    Attributes:
        judges: how many judges each run has.
    """

    run_buffers: ClassVar[tuple[str, ...]] = ("lambda1", "lambda2")
    hops_of_view: ClassVar[int] = 1
    """Controllers see what the neighbours of a node predict."""

    controllers: ComparingControllers
    lambda1: Tensor
    lambda2: Tensor
    epsilon: Tensor

    def __init__(
        self, backbone: Backbone, controllers: ComparingControllers, settings: Sequence[Settings]
    ) -> None:
        super().__init__()
        first = settings[0]
        if not first.controllers.use_propagation:
            raise SettingsError(
                "teaching=compare without the propagation controller has no steps to compare; set "
                "teaching=paper, or strategy=none"
            )
        self.backbone, self.controllers = backbone, controllers
        self.strategy: type[Strategy] = STRATEGIES.get(first.strategy)
        self.max_steps = first.network.max_steps
        self.parts: ControllerSettings = first.controllers
        self.changing = measures_of(first.controllers.measures)[1]
        self.capturable = backbone.capturable
        self.judges, self.criterion = 0, losses.prediction_error
        for name in self.run_buffers:
            values = torch.tensor([getattr(s.controllers, name) for s in settings])
            self.register_buffer(name, values, persistent=False)
        self.register_buffer("epsilon", torch.full((1, 1), 0.5), persistent=False)

    chooses, shows_priority = True, False

    @classmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """PPro around the backbone that the settings name."""
        backbone: Backbone = BACKBONES.get(settings[0].backbone)(sizes, settings[0].network)
        return cls.around(backbone, sizes, settings)

    @classmethod
    def around(cls, backbone: Backbone, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """PPro around a backbone."""
        wanted = settings[0].controllers
        controllers = ComparingControllers(
            sizes.rngs,
            len(wanted.measures),
            sizes.classes,
            settings[0].network.max_steps,
            wanted.controller_units,
        )
        return cls(backbone, controllers, settings)

    def add_judges(self, number: int) -> None:
        """Give every run so many judges, which begin with its own weights."""
        self.judges = number
        for parameter in self.backbone.parameters():
            parameter.data = parameter.data.repeat_interleave(1 + number, 0)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Look through the runs' own backbones only, as if there were no judges."""
        parameters, judges = list(self.backbone.parameters()), self.judges
        kept = [parameter.data for parameter in parameters]
        self.judges = 0
        for parameter, data in zip(parameters, kept, strict=True):
            parameter.data = data[:: 1 + judges]
        try:
            yield
        finally:
            self.judges = judges
            for parameter, data in zip(parameters, kept, strict=True):
                parameter.data = data

    def drop_judges(self) -> None:
        """Keep the backbone of each run alone."""
        for parameter in self.backbone.parameters():
            parameter.data = parameter.data[:: 1 + self.judges].clone()
        self.judges = 0

    def forward(self, inputs: Inputs, rows: Rows, noise: Noise | None = None) -> Outcome:
        """Choose a step for every row by the predictions of all nodes, then classify it there."""
        with torch.no_grad():
            runs, m = rows.nodes.shape
            wanted, few = [(rows.nodes, self.own(rows.nodes))], m < inputs.num_nodes
            sight = Sight.of(inputs, runs, wanted) if few else Sight.of_all(inputs, runs)
            steps, weights = self.choose(self.predictions(sight), rows.nodes)
        outcome = self.at_steps(inputs, rows, steps, noise)
        return Outcome(outcome.logits, outcome.embedding, steps, weights)

    def choose(self, predictions: StepPredictions, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Return step and priority of nodes, as each run's own backbone sees them. ``[R, m]``."""
        chosen = []
        for block in row_blocks(nodes.shape[1], BLOCK_ROWS):
            x = self.evidence(predictions, nodes[:, block], self.own(nodes[:, block]))
            steps = self.controllers.follow(self.strategy, x).steps
            chosen.append((steps, self.controllers.weights(at_step(x, steps))))
        steps, weights = (torch.cat(part, 1) for part in zip(*chosen, strict=True))
        return steps, weights

    def own(self, nodes: Tensor) -> Tensor:
        """The number of each run's own backbone, for nodes ``[R, m]``."""
        runs = torch.arange(nodes.shape[0], device=nodes.device) * (1 + self.judges)
        return runs.unsqueeze(1).expand_as(nodes)

    def at_steps(self, inputs: Inputs, rows: Rows, steps: Tensor, noise: Noise | None) -> Outcome:
        """What every backbone says of its rows at given steps; its gradient reaches θ."""
        pass_ = Pass(self, inputs, rows, noise)
        h_tilde = pass_.run(GivenSteps(pass_, steps[:, : rows.free]))
        logits = self.backbone.classify(h_tilde, pass_.h0_rows, rows.nodes, noise)
        return Outcome(logits, h_tilde, pass_.steps, torch.ones_like(rows.valid))

    @torch.no_grad()
    def predictions(self, sight: Sight) -> StepPredictions:
        """What every backbone predicts of the nodes it looks at, at every step, without dropout."""
        pass_ = Pass(self, sight.inputs, sight.rows, None, watched=True)

        def read(logits: Tensor) -> tuple[Tensor, Tensor]:
            log_p = log_predictions(logits)
            return centred_scores(log_p), sight.near(log_p.exp())

        kept = [read(logits) for logits in _few_at_once(self._logits(pass_, sight))]
        assert pass_.z is not None
        scores, near = (torch.cat(part) for part in zip(*kept, strict=True))
        return StepPredictions(sight, scores, near, sight.pick(pass_.z))

    def _logits(self, pass_: Pass, sight: Sight) -> Iterator[Tensor]:
        """Yield the logits of the nodes looked at, at every step. Shape ``[s, c]``."""
        linear, alpha = self.backbone.class_scores(pass_.h0_all), self.backbone.alpha
        if linear is not None and alpha is not None:
            scores, added = linear
            added = sight.take(added.expand_as(scores))
            yield from (sight.take(s) + added for s in pass_.steps_of(scores, alpha))
            return
        h0, nodes = pass_.h0_rows, sight.rows.nodes
        every = EveryStep(
            pass_, lambda h: sight.pick(self.backbone.classify(h, h0, nodes, None)).clone()
        )
        pass_.run(every)
        yield from every.kept

    def evidence(self, predictions: StepPredictions, nodes: Tensor, backbone: Tensor) -> Tensor:
        """Standardised evidence of nodes, each as one backbone sees it. ``[L + 1, R, m, f]``."""
        scores, near, z = predictions.seen(nodes, backbone)
        return self.controllers.standardised(evidence(self.controllers.scaled(scores), near, z))


def _few_at_once(steps: Iterator[Tensor]) -> Iterator[Tensor]:
    """Yield steps stacked, as many at once as memory can spare: ``[s, c]`` to ``[few, s, c]``."""
    waiting = list[Tensor]()
    for step in steps:
        waiting.append(step)
        if (1 + len(waiting)) * step.numel() > AT_ONCE:
            yield torch.stack(waiting)
            waiting.clear()
    if waiting:
        yield torch.stack(waiting)
