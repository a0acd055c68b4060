"""The README is true where a test can tell. Its code runs in ``tests/cli/test_docs.py``."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from ppro.parts.version import VERSION

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert "://" in link or (ROOT / link).exists(), link


def test_the_first_screen_says_what_it_is_and_the_two_commands() -> None:
    screen = "\n".join(README.splitlines()[:40])
    for words in ("number of propagation steps", "priority in the loss", "make train", "make test"):
        assert words in screen.replace("**", "").replace("\n", " ")


def test_one_version() -> None:
    assert version("ppro") == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
