"""What the training that follows a search needs of the budget, so that the search has the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ppro.search.auto_picking import best_of, price_of_controllers
from ppro.search.auto_race import Racer, common_epochs
from ppro.training.backbone_alone import BARE

SIDE_BY_SIDE = 0.8
"""What a core is worth beside others."""
EPOCHS, TAUGHT_EPOCHS = 500, 250
"""Epochs that a training is left time for, without controllers and with them, which are dear; the
clock ends those that would need more."""
LEARNERS_EPOCHS = 220
"""Epochs that a training is left time for where its network was learning to the last: these come
before longer rungs."""
ABLE = 3
"""How many of the best may still win."""


@dataclass(frozen=True)
class Training:
    """The training of the winner.

    Args:
        until: the moment at which it must end.
        cores: that its runs share.
    """

    runs: int
    until: float
    cores: int

    @property
    def speed(self) -> float:
        """Return how many runs train as fast as one does alone."""
        if self.cores == 1 or self.runs == 1:
            return 1.0
        return SIDE_BY_SIDE * min(self.cores, self.runs)

    def begins(self, racers: Sequence[Racer], taught: bool = False) -> float:
        """Return the moment at which it must begin at the latest, whichever of the best wins.

        Args:
            taught: whether one of them may still get controllers.
        """
        dearest = max(_seconds(racer, taught) for racer in best_of(racers, ABLE))
        return self.until - dearest * self.runs / self.speed

    def of_learners(self, racers: Sequence[Racer]) -> float:
        """Return the moment at which the best must have the rest, if it is still learning.

        That is never where it has learned what it can.
        """
        best = best_of(racers, 1)[0]
        if not best.trials(common_epochs(racers))[0].is_learning:
            return math.inf
        return self.until - LEARNERS_EPOCHS * best.run_seconds * self.runs / self.speed


def _seconds(racer: Racer, taught: bool) -> float:
    """Return what the training of one run takes."""
    if racer.candidates[0].strategy != BARE:
        return TAUGHT_EPOCHS * racer.run_seconds
    share = price_of_controllers(racer) / (racer.runs * len(racer.candidates)) if taught else 0.0
    return max(EPOCHS * racer.run_seconds, TAUGHT_EPOCHS * share)
