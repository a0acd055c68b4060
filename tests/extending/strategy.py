"""A strategy of one's own: a node goes on as long as its chance does not fall."""

import torch

from ppro.nn import losses
from ppro.nn.strategies import Strategy


class LearnToClimb(Strategy):
    """L2C: a node keeps the last step before its chance first falls, and never fewer than one."""

    name, title = "l2c", "L2C (learn to climb)"
    verb, told = "climb", "It climbed to step"
    default_bias = 1.0
    values = {kind: {"lambda1": (1.0, 0.1)} for kind in ("homophilous", "heterophilous")}

    def __init__(self, view):
        super().__init__(view)
        self.open = torch.ones_like(self.steps, dtype=torch.bool)
        self.before = torch.zeros_like(view.valid)
        self.kept = []

    def observe(self, k, h, evidence, *, last):
        chance = self.chance(h, evidence)
        if self.view.learning:
            self.kept.append((chance, self.view.error(h)))
        self.open = self.open & ((chance.detach() >= self.before) | (k == 1))
        self.take(self.open, k, h)
        self.before = chance.detach()

    def chance(self, h, evidence):
        return self.view.probability(h.detach(), evidence.detach())

    def loss(self, error):
        chances, errors = (torch.stack(part) for part in zip(*self.kept, strict=True))
        return losses.node_mean((chances * errors).mean(0), self.view.valid, self.view.total)
