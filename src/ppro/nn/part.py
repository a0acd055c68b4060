"""What settings, commands, tables and estimates ask of the class of a network."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


class Part:
    """A backbone or a rival, as a class: what it is called, set by and searched over.

    Attributes:
        name: what commands and files call it; a subclass with a name is known by it.
        title: what tables call it.
        note: what a reader of its numbers must know.
        settings_class: its own settings; the constructor takes those that it names as keywords.
        spaces: what a search may choose from, on either kind of graph.
        keeps_steps: whether a pass keeps the rows of every step.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    note: ClassVar[str] = ""
    settings_class: ClassVar[type[NetworkSettings]] = NetworkSettings
    spaces: ClassVar[Mapping[Kind, Space]] = {}
    keeps_steps: ClassVar[bool] = False

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse settings under which this network cannot train, with a ValueError."""

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Tell whether features pass through in blocks from end to end, so may stay on disk."""
        return False

    @classmethod
    def propagated_width(cls, settings: NetworkSettings, features: int, classes: int) -> int:
        """Return how many numbers of a node propagate."""
        return classes if cls.takes_blocks(settings) else settings.hidden

    @classmethod
    def keywords(cls, settings: NetworkSettings) -> dict[str, Any]:
        """Return the settings that the constructor takes."""
        found: dict[str, Any] = {}
        for base in cls.__mro__:
            if "__init__" not in vars(base):
                continue
            arguments = inspect.getfullargspec(vars(base)["__init__"])
            found |= {name: getattr(settings, name) for name in arguments.kwonlyargs}
            if arguments.varkw is None:
                break
        return found
