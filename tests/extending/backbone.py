"""A backbone of one's own: a gated step, with a setting of its own."""

from torch.nn import functional as F

from ppro.compute.layers import RunLinear
from ppro.nn.backbones.base import HIDDEN_SITE, Backbone, dropout
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space


class GateSettings(NetworkSettings):
    """The settings of the gated network."""

    gate: float = 0.5


class Gated(Backbone):
    """h_k = tanh(Â h_{k-1} W) mixed with h_{k-1} by a fixed gate."""

    name, title, settings_class = "gated", "Gated", GateSettings
    shapes = ({"max_steps": 2}, {"max_steps": 4, "gate": 0.2})
    space = Space(shapes, {"lr": (0.01, 0.05), "dropout": (0.5, 0.2)})
    spaces = {"homophilous": space, "heterophilous": space}

    def __init__(self, sizes, own):
        super().__init__()
        self.width, self.gate = own.hidden, own.gate
        self.first = RunLinear(sizes.rngs, sizes.features, own.hidden)
        self.layer = RunLinear(sizes.rngs, own.hidden, own.hidden)
        self.output = RunLinear(sizes.rngs, own.hidden, sizes.classes)

    def embed(self, x, noise):
        return F.relu(x.linear(self.first.weight, noise) + self.first.bias.unsqueeze(1))

    def step(self, k, h, h0, adjacency, noise):
        aggregate = adjacency.matmul(h)
        return aggregate, h.lerp(self.layer(aggregate).tanh(), self.gate)

    def classify(self, h, h0, rows, noise):
        return self.output(dropout(h, rows, noise, HIDDEN_SITE))
