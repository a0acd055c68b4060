"""Ctrl-C between two epochs instead of inside one, so that what is kept is always whole."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class CtrlC:
    """Inside this context Ctrl-C waits for :meth:`check`; a second one does not wait.

    Other threads than the main one get no signals, and a handler that somebody else has set stays
    in place: there the context changes nothing.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._deferring = False

    def __enter__(self) -> Self:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._deferring = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._deferring:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def check(self) -> None:
        """Raise the KeyboardInterrupt that has been waiting, if there is one."""
        if self.pressed:
            raise KeyboardInterrupt
