"""Standard output and error: they may fail without ending a command, and show texts as they are."""

import errno
import io
import logging
import os
import re
import sys
from typing import Any, TextIO

from rich.console import Console

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Signs that steer a terminal, or the direction of what it shows."""


def visible(text: str) -> str:
    """Return a text with signs that steer a terminal written out, such as \\x1b."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class PlainConsole(Console):
    """A console that shows texts of files as they are: nothing in them acts on the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, with signs that steer the terminal written out."""
        super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)


class WarningLines(logging.Handler):
    """Shows warnings of the package, and of what it uses, as a line each on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message alone."""
        print(visible(record.getMessage()), file=sys.stderr, flush=True)


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
