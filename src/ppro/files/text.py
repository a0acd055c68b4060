"""Texts for files: tables in Markdown, and JSON that every reader takes."""

import json
import math
from collections.abc import Sequence
from typing import Any

SMALL = 400
"""Characters of an object that takes one line of a readable file."""


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    first, *rest = ("| " + " | ".join(line) + " |" for line in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *rest])


def readable_json(value: Any) -> str:
    """Return JSON whose differences can be read: an array, or a small object, takes one line."""
    return _lines(_finite(value), "") + "\n"


def _lines(value: Any, indent: str) -> str:
    line = json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list) or not value:
        return line
    inside = value if isinstance(value, list) else value.values()
    is_flat = not any(isinstance(part, dict | list) for part in inside)
    if is_flat and (isinstance(value, list) or len(line) <= SMALL):
        return line
    deeper = indent + " "
    if isinstance(value, list):
        parts = [_lines(part, deeper) for part in value]
    else:
        parts = [f"{json.dumps(key)}: {_lines(part, deeper)}" for key, part in value.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    return f"{first}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{last}"


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON without NaN, which other readers refuse: it becomes null."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value
