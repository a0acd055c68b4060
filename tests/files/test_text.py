"""Texts for files: JSON whose differences can be read, and tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ppro.files import SMALL, markdown_table, readable_json, write_text

FINITE = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | FINITE,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_readable_json_gives_the_same_back(value: object) -> None:
    assert json.loads(readable_json(value)) == value


def test_an_array_and_a_small_object_take_one_line() -> None:
    record = {
        "runs": list(range(300)),
        "versions": {"torch": "2", "python": "3"},
        "results": [{"val": [1.0, math.nan], "settings": {}}],
        "large": {f"key{i}": "x" * 40 for i in range(SMALL // 40)},
    }
    lines = readable_json(record).splitlines()
    assert lines[1].startswith(' "runs": [0, 1, ')
    assert lines[1].endswith("299],")
    assert ' "versions": {"torch": "2", "python": "3"},' in lines
    assert '   "val": [1.0, null],' in lines
    assert sum("key" in line for line in lines) == SMALL // 40


def test_a_table_has_a_line_for_its_head() -> None:
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |"


def test_a_text_is_written_with_its_folders(tmp_path: Path) -> None:
    write_text(tmp_path / "deep" / "file.md", "ε\n")
    assert (tmp_path / "deep" / "file.md").read_text("utf-8") == "ε\n"
