"""Where results lie: one JSON file for each search and each cell of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ppro.errors import RunError
from ppro.files import dump_json, whole_file

FORMAT = 1


class Store:
    """The folder of results; a file in it is whole or not there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def search_path(self, dataset: str, split: str, method: str) -> Path:
        """Where a search is kept."""
        return self.root / "search" / f"{dataset}.{split}" / f"{method}.json"

    def cell_path(self, dataset: str, split: str, method: str, variant: str = "") -> Path:
        """Where a cell is kept; ``variant`` names what differs from the chosen settings."""
        name = f"{method}@{variant}" if variant else method
        return self.root / "cells" / f"{dataset}.{split}" / f"{name}.json"

    def read(self, path: Path) -> dict[str, Any] | None:
        """A result, or None where there is none yet.

        Raises:
            RunError: the file is damaged or of another version.
        """
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(f"{path}: cannot be read ({error}); remove it to run it again") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"{path}: not a result of this version; remove it to run it again")
        return found

    def write(self, path: Path, result: dict[str, Any]) -> None:
        """Keep a result."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            part.write_text(dump_json({"format": FORMAT, **result}, indent=1) + "\n", "utf-8")
