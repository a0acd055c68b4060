"""The site builds without a warning and without a network, and its pages are up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ppro.paper.pages import OWN_PAGES
from ppro.settings.settings import all_keys
from tests.test_rooms import ROOMS

ROOT = Path(__file__).parent.parent
DOCS, TABLES = ROOT / "docs", ROOT / "results" / "tables"
PACKAGE = ROOT / "src" / "ppro"
PAGES = ("results.md", *OWN_PAGES)
REMOTE = re.compile(r"""(?:src|href)="(https?://[^"]+\.(?:js|css|woff2?|png|svg))["?]""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="pip install 'ppro[docs]' to build the documentation")
    folder = tmp_path_factory.mktemp("site")
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_it_asks_no_other_server_for_anything(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        assert not REMOTE.findall(page.read_text(encoding="utf-8")), page


def test_equations_are_drawn_beside_their_code(site: Path) -> None:
    text = (site / "method.html").read_text(encoding="utf-8")
    for number in range(1, 15):
        assert f"(Eq. {number})" in text
    assert text.count("<math") == (DOCS / "method.md").read_text("utf-8").count("```math")
    assert "src/ppro/nn/losses.py: break_loss" in text
    assert "def break_loss" in re.sub(r"<[^>]+>", "", text)


def test_the_home_page_holds_the_rendered_table(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    cells = [f"<td>{method}</td>" for method in ("GCN", "L2B", "L2U", "APPNP, backbone alone")]
    assert all(cell in text for cell in cells)


def test_api_pages_show_settings(site: Path) -> None:
    text = (site / "api" / "training.html").read_text(encoding="utf-8")
    assert "threshold ε of the propagation controller" in text


@pytest.mark.parametrize("table", sorted(TABLES.glob("*.md")), ids=lambda path: path.stem)
def test_the_page_of_results_is_what_was_rendered(table: Path) -> None:
    told = "run: ppro reproduce all --render-only --page docs/results.md"
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in PAGES]
    assert any(table.read_text(encoding="utf-8") in page for page in pages), told


def test_the_method_names_settings_that_exist() -> None:
    text = (
        (DOCS / "method.md").read_text(encoding="utf-8").split("## What the paper leaves open")[1]
    )
    named = set(re.findall(r"`([a-z_]+\d?)(?: = [^`]+)?`(?!\])", text)) - {"judged_on"}
    assert len(named) > 15
    assert named <= {*all_keys()}


def test_the_picture_of_the_house_is_true() -> None:
    text = (DOCS / "contributing.md").read_text(encoding="utf-8")
    house = text.split("## One way through the house")[1].split("Beside the package")[0]
    drawn = re.findall(r"^    (\w+)", house, re.M)
    assert tuple(name for name in drawn if name in ROOMS) == ROOMS
    told = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", house, re.M)
    assert tuple(told) == ROOMS
