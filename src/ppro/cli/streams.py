"""Standard output and error that may fail without ending a command."""

import errno
import io
import os
import sys
from typing import TextIO


class Forgiving(io.TextIOWrapper):
    """A standard stream; when it cannot be written any more, the rest of it goes nowhere.

    Attributes:
        problem: the error that ended it, if any.
    """

    problem: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, or nothing where that is not possible."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what is left, where that is possible."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.problem = self.problem or error
        # What is still held back would fail again when Python ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def forgive() -> None:
    """Let standard output and error fail without ending the command.

    A character that the encoding of a stream lacks becomes '?'. A stream that was closed before
    the command began leads nowhere, so that no file of ours gets its number.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = _forgiving(sys.stdout, sys.__stdout__, 1)
    sys.stderr = _forgiving(sys.stderr, sys.__stderr__, 2)


def _forgiving(stream: TextIO | None, original: TextIO | None, number: int) -> TextIO:
    if stream is None:
        return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
    if isinstance(stream, Forgiving) or not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream is not original:
        stream.reconfigure(errors="replace")
        return stream
    encoding, by_line = stream.encoding, stream.line_buffering
    return Forgiving(stream.detach(), encoding, "replace", line_buffering=by_line)


def lost_output() -> str:
    """Return why standard output could not be written; a reader that has left is no reason."""
    sys.stdout.flush()
    problem = sys.stdout.problem if isinstance(sys.stdout, Forgiving) else None
    if problem is None or problem.errno == errno.EPIPE:
        return ""
    return problem.strerror or str(problem)
