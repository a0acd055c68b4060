"""The names of splits, and help for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

PUBLIC = "public"
RANDOM = "random-60-20-20"
GEOM_GCN = "geom-gcn-48-32-20"
SPLITS = (PUBLIC, RANDOM, GEOM_GCN)


def nearest(name: str, valid: Iterable[str]) -> str:
    """The end of an error message about an unknown name."""
    names = list(valid)
    close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{hint}valid names: {', '.join(names)}"
