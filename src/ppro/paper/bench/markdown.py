"""Tables in Markdown."""

from collections.abc import Sequence

from ppro.files import markdown_table


def table(head: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose column names are words, then texts with bars between."""
    words, *texts = head.split("|")
    names = [*words.split(), *texts]
    return markdown_table(names, rows)


def percent(share: float) -> str:
    """Return a share in percent, without digits after the point."""
    return f"{100 * share:.0f} %"
