"""Parts by their names: those of the package, and those that a user's script defines."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from ppro.errors import SettingsError

LONGEST = 100
"""Characters of a word whose neighbours are looked for."""


def nearest(key: str, valid: Sequence[str], otherwise: str = "") -> str:
    """Return a phrase that names the valid key nearest to a wrong one.

    Args:
        otherwise: what to say where none is near; by default the phrase lists all.
    """
    key = str(key)[:LONGEST]
    found = [name for name in valid if name.casefold() == key.casefold()]
    found = found or difflib.get_close_matches(key, valid, n=1, cutoff=0.5)
    if found:
        return f"did you mean '{found[0]}'?"
    return otherwise or f"valid: {', '.join(sorted(valid))}"


class Registry:
    """The parts of one kind.

    A class of the package stands here by its address ``module:Class`` and is imported when it is
    first asked for. A class that is defined elsewhere registers itself: the base class of its kind
    calls :meth:`register` for every subclass that has a name.

    Args:
        kind: what a part is called in messages, such as "strategy".
        addresses: name and address of each part of the package.
    """

    def __init__(self, kind: str, addresses: Mapping[str, str]) -> None:
        self.kind = kind
        self._addresses = dict(addresses)
        self._parts: dict[str, Any] = {}

    def names(self) -> list[str]:
        """Return the names of all parts: the package's in their order, then others."""
        return [*self._addresses, *(name for name in self._parts if name not in self._addresses)]

    def get(self, name: str) -> Any:
        """Return a part by its name.

        Raises:
            SettingsError: there is none of that name.
        """
        # What a file or an option holds may be anything, and a list is not even looked for.
        name = name if isinstance(name, str) else str(name)
        if name not in self._parts and name in self._addresses:
            module, _, attribute = self._addresses[name].partition(":")
            self._parts[name] = getattr(import_module(module), attribute)
        if name not in self._parts:
            raise SettingsError(
                f"no {self.kind} '{name[:LONGEST]}'; {nearest(name, self.names())} (one of your "
                "own is known once the script that defines it has run: ppro --load FILE)"
            )
        return self._parts[name]

    def check(self, name: str) -> str:
        """Return the name of a part, without importing it.

        Raises:
            SettingsError: there is none of that name.
        """
        known = isinstance(name, str) and name in self._addresses
        return name if known else (self.get(name), name)[1]

    def register(self, name: str, part: Any) -> None:
        """Make a part known by its name; defined again under the same name, it is replaced.

        Raises:
            SettingsError: the name is not one, or a part of the package has it.
        """
        if not re.fullmatch(r"[a-z][a-z0-9-]*", str(name)):
            raise SettingsError(
                f"{self.kind} name '{name}': use small letters, digits and hyphens, a letter first"
            )
        own = self._addresses.get(name)
        if own is not None and own.partition(":")[0].split(".")[0] != part.__module__.split(".")[0]:
            raise SettingsError(f"{self.kind} '{name}': the package has one; choose another name")
        self._parts[name] = part

    def __contains__(self, name: object) -> bool:
        return name in self._addresses or name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield every part with its name."""
        return ((name, self.get(name)) for name in self.names())
