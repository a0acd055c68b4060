"""The processes that hold one graph together, as the rest of the package sees them.

Training asks its ranks for sums and decisions over all nodes. A process alone, the default, is
its own answer; :mod:`ppro.distributed` has ranks that answer together.
"""

from torch import Tensor

from ppro.compute.interrupts import CtrlC


class Ranks:
    """One process that holds the whole graph.

    Attributes:
        rank: number of this process, from 0.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum of the values of every rank, element by element."""
        return values

    def max(self, values: Tensor) -> Tensor:
        """Return the largest of the values of every rank, element by element."""
        return values

    def gather(self, values: Tensor) -> Tensor:
        """Return the values of every rank, one after the other along the second dimension."""
        return values

    def all(self, flag: bool) -> bool:
        """Tell whether the flag is set on every rank."""
        return flag

    def interrupts(self) -> CtrlC:
        """Return what holds back Ctrl-C between epochs, for all ranks at once."""
        return CtrlC()


ALONE = Ranks()
