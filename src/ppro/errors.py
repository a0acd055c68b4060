"""Errors that a user can act on: each message names the cause and a remedy."""

from typing import ClassVar

LONGEST = 1_500
"""Characters of a message."""


class PProError(Exception):
    """Base of every error the user can mend; the command line shows its text and exits with 2.

    A text is one line of bounded length, whatever names and cells of files stand in it: the cause
    at its beginning and the remedy at its end are kept.

    Attributes:
        is_list: the text is one of several lines, such as files to put in place, and is left alone.
    """

    is_list: ClassVar[bool] = False

    def __init__(self, text: str = "") -> None:
        line = str(text) if self.is_list else "\\n".join(str(text).splitlines())
        if len(line) > LONGEST and not self.is_list:
            line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 3 :]}"
        super().__init__(line)


class DataError(PProError):
    """A graph, a raw file or a split is missing, broken or inconsistent."""


class NoSourceError(DataError):
    """The files of a graph are nowhere; the text lists what was tried and what to put in place."""

    is_list = True


class SettingsError(PProError):
    """A setting, a recipe or a command-line value is unknown or out of range."""


class TrainingError(PProError):
    """A training came to nothing: its losses left the range of numbers."""


class RunError(PProError):
    """A run folder is missing, incomplete or of a format this version cannot read."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a line that says what is kept and how to go on."""


class RankError(PProError):
    """A process of a training by several has died or does not answer."""
