"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: str, rows: Sequence[Sequence[str]]) -> str:
    """A table whose column names are words, then texts with bars between."""
    words, *texts = head.split("|")
    names = [*words.split(), *texts]
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(share: float) -> str:
    """A share in percent, without digits after the point."""
    return f"{100 * share:.0f} %"
