"""Steps that are known before a pass begins."""

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from ppro.compute.device import may_ask
from ppro.nn.strategies.base import Strategy, View

T = TypeVar("T")


class GivenSteps(Strategy):
    """Every row takes the step that it is given; it has no name, as nobody chooses it.

    Args:
        given: l of the rows, 0 .. L. Shape ``[R, m]``.
    """

    looks: ClassVar[bool] = False

    def __init__(self, view: View, given: Tensor) -> None:
        super().__init__(view)
        self.given, self.seen = given, 0
        self.deepest = int(given.max()) if given.numel() and may_ask(given) else None

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Take step k where it is the one given."""
        self.seen = k
        self.take(self.given == k, k, h)

    def settled(self) -> bool:
        """Tell whether all rows are at their step; on a GPU asking would stall it."""
        return self.deepest is not None and self.seen >= self.deepest


class EveryStep(Strategy, Generic[T]):
    """Keeps what is read off every step; the rows end at L.

    Args:
        read: from the embeddings of a step to what is kept of it; a copy, since a pass may use
            their memory again.
    """

    looks: ClassVar[bool] = False

    def __init__(self, view: View, read: Callable[[Tensor], T]) -> None:
        super().__init__(view)
        self.read, self.kept = read, [read(view.h0)]

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Keep what step k says."""
        self.kept.append(self.read(h))
        if last:
            self.h_tilde, self.steps = h, torch.full_like(self.steps, k)
