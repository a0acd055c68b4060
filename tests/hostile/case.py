"""What a case of the corpus is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Make = Callable[[Path], tuple[str, ...]]
"""Fills an empty folder and returns the words of a command to be run in it, without ``ppro``."""


@dataclass(frozen=True)
class Case:
    """A command that must end well, or be refused in one line.

    Args:
        group: the row of the table that it counts in.
        env: variables beside the usual ones.
    """

    group: str
    name: str
    make: Make
    env: Mapping[str, str] = field(default_factory=dict)


LOAD = "ppro.load"
"""In the place of a command: open a run folder in Python."""
TINY = ("--set", "epochs=2", "--set", "hidden=4", "--runs", "2", "--threads", "1", "--out", "out")
SMALL = ("csbm", "--option", "nodes=40", "--option", "features=6")
