"""What controllers that compare say of every node: their evidence, their chances, what drives w."""

from typing import cast

import torch
from torch import Tensor

from ppro.insight.attribution import comparing_drivers
from ppro.insight.explanation import Explanation
from ppro.nn.comparing.costs import at_step
from ppro.nn.comparing.evidence import OF_NODE, OF_STEP, evidence
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.comparing.sight import Sight
from ppro.nn.network import Inputs
from ppro.nn.priority import titles
from ppro.nn.strategies import Chance, Path, Strategy

OTHER_DRIVERS = (*OF_STEP, *OF_NODE, "its prediction", "its prediction at step 0")
"""What the weight controller sees of a node at its step, beside z."""


class _Asked:
    """A strategy's rule that records every chance it asks for."""

    def __init__(self, strategy: type[Strategy]) -> None:
        self.strategy, self.steps, self.logits = strategy, list[int](), list[Tensor]()

    def follow(self, chance: Chance, start: Tensor, last: int, cost: Tensor | None) -> Path:
        """Walk as the strategy does."""

        def asked(k: int, best: Tensor | None) -> Tensor:
            self.steps.append(k)
            self.logits.append(chance(k, best))
            return self.logits[-1]

        return self.strategy.follow(asked, start, last, cost)


@torch.no_grad()
def explain_comparing(model: ComparingNetwork, inputs: Inputs) -> Explanation:
    """Return what a model of one run says of every node, without dropout."""
    controllers, predictions = model.controllers, model.predictions(Sight.of_all(inputs, 1))
    nodes = torch.arange(inputs.num_nodes, device=inputs.influence.device).unsqueeze(0)
    scores, near, z = predictions.seen(nodes, model.own(nodes))
    seen = evidence(controllers.scaled(scores), near, z)
    x = controllers.standardised(seen)
    asked = _Asked(model.strategy)
    steps = controllers.follow(cast(type[Strategy], asked), x).steps
    weighs = model.parts.use_weighting
    own = at_step(x, steps)
    return Explanation(
        scores.softmax(-1)[:, 0].transpose(0, 1).cpu(),
        steps[0].cpu(),
        torch.stack(asked.logits, -1)[0].sigmoid().cpu(),
        controllers.weights(own)[0].cpu() if weighs else None,
        z[0].cpu(),
        comparing_drivers(controllers, own, z.shape[-1])[0].cpu() if weighs else None,
        measure_names=tuple(titles(model.parts.measures)),
        other_drivers=OTHER_DRIVERS,
        first_decision=asked.steps[0],
        threshold=float(model.epsilon[0]),
        evidence=seen[:, 0, :, : len(OF_STEP)].transpose(0, 1).cpu(),
        evidence_names=OF_STEP,
    )
