"""The page on data says what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from ppro.data import DATASETS
from ppro.data.page import markdown

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_every_graph_has_its_defects_and_sizes() -> None:
    text = markdown()
    for info in DATASETS.values():
        assert f"| `{info.name}` | {info.title} |" in text
        assert f"## {info.title}\n" in text
        assert all(f"- {defect}.\n" in text for defect in info.known_defects)
    assert "| 5,278 (5,429) |" in text


def test_the_page_is_up_to_date() -> None:
    told = "run: ppro data page --out docs/data.md"
    assert PAGE.read_text(encoding="utf-8") == markdown(), told
