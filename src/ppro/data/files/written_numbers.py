"""Columns of text that people mean as numbers: ``12 %``, ``$1,234.50``, a dash for nothing."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ppro.data.files.cells import known_texts
from ppro.data.files.tables import MISSING, arrow

MARKS = {
    *("none", "na", "nan", "null", "nil", "n.a.", "n/d", "unknown", "missing", "not available"),
    *("-", "--", "–", "—", "?", ".", "..", "*"),
    *("#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"),
}
"""Cells, in lower case, that mean a missing number where a column has nothing else but numbers."""
LOOKED_AT = 100
"""Rows that are looked at first."""
_SIGNED = re.compile(
    r"(?P<minus>[+-]?)\s*(?P<before>[$€£¥]?)\s*(?P<body>[+-]?[\d.,](?:.*[\d.])?)\s*(?P<after>[%$€£¥]?)"
)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d{1,3}(?:,\d{3})+")
_ENGLISH = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GERMAN = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_GAP = re.compile("(?<=\\d)[ '’\u00a0\u202f](?=\\d{3}(?!\\d))")


def with_written_numbers(path: Path, frame: Any, text: Collection[str]) -> tuple[Any, list[str]]:
    """Return a frame whose columns of such texts are numbers, and a note on each.

    Decimal commas stay: only the whole table can tell what a comma means.

    Args:
        text: columns that are text whatever they look like: ids, labels.
    """
    changed, notes = dict[str, Any](), list[str]()
    for name in frame.columns:
        column = frame[name]
        if name in text or not arrow("pandas").api.types.is_string_dtype(column):
            continue
        # Most texts are no numbers, which the first of them tell.
        if _meant(set(known_texts(column.iloc[:LOOKED_AT])) - {""}) is None:
            continue
        cells = known_texts(column)
        found = _meant(set(cells) - {""})
        if found is None:
            continue
        meant, told = found
        if told or _has_blanks(column):
            changed[name] = _numbers(frame, [meant.get(cell, "") for cell in cells])
            notes += [f"{path}, column {name}: {line}" for line in told]
    return (frame.assign(**changed) if changed else frame), notes


def _meant(known: set[str]) -> tuple[dict[str, str], list[str]] | None:
    """Return the number that each text means, and what to tell; None where texts are no numbers."""
    marks = {cell for cell in known if cell.casefold() in MARKS}
    bodies, signs = dict[str, str](), set[str]()
    for cell in known - marks:
        found = _SIGNED.fullmatch(cell)
        if found is None and not _PLAIN.fullmatch(cell):
            return None
        bodies[cell] = cell if found is None else found["minus"] + found["body"]
        signs.add("" if found is None else found["before"] or found["after"])
    # A share beside a percentage, or two currencies, are not the same unit.
    if len(signs) > 1:
        return None
    plain = _without_groups(bodies)
    if not all(_PLAIN.fullmatch(body) or _COMMA.fullmatch(body) for body in plain.values()):
        return None
    told = [f"cells such as {min(marks)!r} are taken as missing"] if marks else []
    if sign := next(iter(signs), ""):
        told.append(f"the numbers are read without their {sign!r}")
    if plain != bodies:
        told.append("numbers whose thousands are parted, read as numbers")
    return plain, told


def _without_groups(bodies: dict[str, str]) -> dict[str, str]:
    """Return numbers without what parts their thousands, where the column tells what does."""
    closed = {cell: _GAP.sub("", body) for cell, body in bodies.items()}
    bodies = closed if all(map(_is_number, closed.values())) else bodies
    texts = list(bodies.values())
    if any(_parts_by(",", ".", body) for body in texts) and all(
        _ENGLISH.fullmatch(body) or _PLAIN.fullmatch(body) for body in texts
    ):
        return {cell: body.replace(",", "") for cell, body in bodies.items()}
    if any(_parts_by(".", ",", body) for body in texts) and all(
        _GERMAN.fullmatch(body) or _COMMA.fullmatch(body) or body.lstrip("+-").isdigit()
        for body in texts
    ):
        return {c: body.replace(".", "").replace(",", ".") for c, body in bodies.items()}
    return bodies


def _is_number(body: str) -> bool:
    patterns = (_PLAIN, _COMMA, _ENGLISH, _GERMAN)
    return any(pattern.fullmatch(body) for pattern in patterns)


def _parts_by(group: str, decimal: str, body: str) -> bool:
    """Tell whether one sign can only part thousands: it comes before the other, or twice."""
    return body.count(group) > 1 or 0 <= body.find(group) < body.find(decimal)


def _has_blanks(column: Any) -> bool:
    """Tell whether cells are missing that only spaces keep from being read so."""
    cells = (cell for cell in column if isinstance(cell, str) and cell not in MISSING)
    return any(cell.strip() in MISSING for cell in cells)


def _numbers(frame: Any, cells: list[str]) -> Any:
    """Return a column of numbers; of text where some have a decimal comma."""
    pd = arrow("pandas")
    texts = pd.Series(cells, index=frame.index, dtype=object)
    values = pd.to_numeric(texts.mask(texts == "", None), errors="coerce")
    return texts if bool((values.isna() & (texts != "")).any()) else values
