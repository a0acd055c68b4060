"""Where results lie: one JSON file for each experiment, whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ppro.errors import RunError
from ppro.files import readable_json, write_text

FORMAT = 2
Found = TypeVar("Found")


class Store:
    """The folder of results.

    A place is the path of a file below it, without its ending.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Found]) -> Found:
        """Return what follows from the results, worked out once until something is written."""
        if key not in self._known:
            self._known[key] = make()
        found: Found = self._known[key]
        return found

    def path(self, place: str) -> Path:
        """Return the file of a place."""
        return self.root / f"{place}.json"

    def places(self, folder: str) -> list[str]:
        """Return the places in a folder."""
        return [f"{folder}/{path.stem}" for path in sorted((self.root / folder).glob("*.json"))]

    def read(self, place: str) -> dict[str, Any] | None:
        """Return a record, or None where there is none yet.

        Settings that all results of a record share are written once; here each has all of them.

        Raises:
            RunError: the file is damaged or of another version.
        """
        path = self.path(place)
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(f"{path}: cannot be read ({error}); remove it to run it again") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"{path}: not a result of this version; remove it to run it again")
        shared = found.get("settings", {})
        for result in found.get("results", []):
            result["settings"] = {**shared, **result.get("settings", {})}
        return found

    def one(self, place: str) -> dict[str, Any] | None:
        """Return the record of an experiment with one result, joined with that; else None."""
        found = self.read(place)
        if found is None or not found.get("results"):
            return None
        (result,) = found.pop("results")
        return {**found, **result}

    def write(self, place: str, record: Mapping[str, Any]) -> None:
        """Keep a record."""
        self._known.clear()
        write_text(self.path(place), readable_json({"format": FORMAT, **record}))
