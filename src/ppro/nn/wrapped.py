"""What networks around a backbone have in common: their parameters and their reach."""

from typing import ClassVar

from torch import nn

from ppro.nn.backbones import Backbone
from ppro.nn.network import Network


class Wrapped(Network):
    """A backbone whose nodes propagate as far as controllers say.

    Attributes:
        controllers: both of them, or None for the bare backbone.
        max_steps: L.
        hops_of_view: hops that controllers see beyond the last step.
    """

    backbone: Backbone
    controllers: nn.Module | None
    max_steps: int
    hops_of_view: ClassVar[int] = 0

    def theta(self) -> list[nn.Parameter]:
        """θ: the backbone, and those of judges."""
        return list(self.backbone.parameters())

    def phi(self) -> list[nn.Parameter]:
        """φ: both controllers."""
        return [] if self.controllers is None else list(self.controllers.parameters())

    def decayed(self) -> list[nn.Parameter]:
        """Return the part of θ that weight decay acts on where it is not for all of it."""
        return self.backbone.decayed()

    def between(self) -> list[nn.Parameter]:
        """Return the backbone's layers of the steps."""
        return self.backbone.between()

    def statistics(self) -> list[nn.Parameter]:
        """Return the backbone's running means."""
        return self.backbone.statistics()

    def reach(self) -> int | None:
        """Return how many hops away a node can matter; None where the backbone does not say."""
        if self.backbone.hops is None:
            return None
        steps = self.max_steps * self.backbone.hops
        return steps + self.backbone.hops_before + self.hops_of_view
