"""Ways to spoil a file: its bytes, its lines, and the values of its tree."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

HOSTILE: tuple[Any, ...] = (
    *(-1, 0, 10**9, 10**18, 10**30, -(10**30), 0.5, 1e308, True, "", "x", "../../x", "\x1b[2J"),
    *(
        "a" * 100_000,
        "=cmd|'/C calc'!A0",
        "\u202e",
        "１２",
        [],
        {},
        [[]],
        [{}] * 3,
        {"": []},
        [1, "a"],
    ),
)
"""Values that nobody expects where they stand; null is added where a format knows it."""


def spoiled_bytes(content: bytes, chance: random.Random) -> bytes:
    """Return a content with a few bytes flipped, cut, doubled, blanked or put in."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        at = chance.randrange(len(data) or 1)
        length = chance.choice((1, 1, 4, 64, 1024))
        way = chance.randrange(6)
        if way == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            del data[at : at + length]
        elif way == 2:
            data[at:at] = data[at : at + length] * 2
        elif way == 3:
            data[at : at + length] = bytes(len(data[at : at + length]))
        elif way == 4:
            data[at:at] = chance.randbytes(length)
        else:
            del data[at:]
    return bytes(data)


def spoiled_lines(text: str, chance: random.Random) -> str:
    """Return a text with a line doubled, left out, moved, or with a cell replaced."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    way = chance.randrange(5)
    if way == 0:
        lines.insert(at, lines[at])
    elif way == 1:
        del lines[at]
    elif way == 2:
        chance.shuffle(lines)
    else:
        cells = lines[at].split(",")
        cells[chance.randrange(len(cells))] = str(chance.choice(HOSTILE))
        lines[at] = ",".join(cells)
    return "\n".join(lines)


def spoiled_tree(tree: Any, chance: random.Random, more: tuple[Any, ...] = ()) -> Any:
    """Return a tree of which one value is replaced, left out or renamed."""
    made = copy.deepcopy(tree)
    parent, key = chance.choice(list(_places(made)))
    way = chance.randrange(6)
    if way == 0 and isinstance(parent, dict):
        del parent[key]
    elif way == 1 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif way == 2 and isinstance(parent, list):
        parent.insert(key, parent[key])
    else:
        parent[key] = chance.choice((*HOSTILE, *more))
    return made


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in inside:
        yield tree, key
        if isinstance(value, dict | list) and value:
            yield from _places(value)
