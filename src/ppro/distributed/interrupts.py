"""Ctrl-C for several ranks: all of them stop after the same epoch."""

import signal
from types import FrameType, TracebackType
from typing import Self

from ppro.compute.interrupts import CtrlC
from ppro.compute.ranks import Ranks
from ppro.errors import RankError


class SharedInterrupts(CtrlC):
    """Ctrl-C, or the SIGTERM by which torchrun ends its ranks, on any rank stops all of them.

    A second signal changes nothing: torchrun passes on what the terminal has sent already.
    """

    def __init__(self, ranks: Ranks) -> None:
        super().__init__()
        self.ranks = ranks

    def __enter__(self) -> Self:
        super().__enter__()
        if self._deferring and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._deferring:
            # After a rank has died torchrun ends the others; they end by themselves, with a word.
            lost = isinstance(error, RankError)
            signal.signal(signal.SIGTERM, signal.SIG_IGN if lost else signal.SIG_DFL)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True

    def check(self) -> None:
        """Raise KeyboardInterrupt on every rank once one of them has been signalled."""
        if not self.ranks.all(not self.pressed):
            raise KeyboardInterrupt
