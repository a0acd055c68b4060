"""The code of the README and of the pages runs: Python as it stands, commands at a reduced size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ppro.data import DATASETS
from tests.cli.conftest import QUICK, Command
from tests.cli.test_own_graph_docs import SECTION, blocks, commands

ROOT = Path(__file__).parents[2]
RUN_HERE = (
    "README.md",
    "docs/index.md",
    "docs/planted.md",
    "docs/report.md",
    "docs/tracking.md",
    "docs/api/index.md",
    "docs/tutorials/first-run.md",
    "docs/tutorials/large-graphs.md",
    "docs/tutorials/reproduce-a-table.md",
)
RUN_ELSEWHERE = {
    "docs/tutorials/your-own-graph.md": "tests/cli/test_own_graph_docs.py",
    "docs/tutorials/new-backbone.md": "tests/nn/backbones/test_tutorial.py",
    "docs/tutorials/search.md": "tests/cli/test_search_docs.py",
    "docs/distributed.md": "tests/cli/test_torchrun.py",
    "docs/module.md": "tests/nn/module/test_docs.py",
}
NOT_RUN = {
    "docs/contributing.md": "its commands build, test and render this repository",
    "docs/metrics.md": "its commands take a graph of the reader's, with frauds in it",
}
BEFORE = {"docs/report.md": "ppro train cora"}
"""What a page takes for granted."""

REDUCED = {
    "train": QUICK,
    "bench": ("--only", "cora", "--seconds", "0.1"),
    "reproduce": ("--quick", "--only", "cora", "--only", "mlp"),
}
SHORT = ("--budget", "2")
FEWER_EPOCHS = "range(1000)", "range(3)"
DOWNLOADED = {name for name, info in DATASETS.items() if info.sources}


def text_of(page: str) -> str:
    """A page, but for what another test runs."""
    return (ROOT / page).read_text(encoding="utf-8").replace(SECTION, "")


def needs_data(words: list[str]) -> bool:
    return words[0] in ("bench", "reproduce") or bool(DOWNLOADED.intersection(words))


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_code_of_a_page_runs(
    page: str, ppro: Command, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    for kind, code in [("sh", BEFORE.get(page, "")), *blocks(text_of(page))]:
        if kind == "python":
            exec(code.replace(*FEWER_EPOCHS), names)  # noqa: S102 - our own text
            continue
        for command, *words in commands(code):
            if command == "make":
                assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
                continue
            assert command == "ppro"
            if needs_data(words):
                monkeypatch.setenv("PPRO_DATA", request.getfixturevalue("real_data"))
            ended = ppro(*words, *REDUCED.get(words[0], ()), *(SHORT if "auto" in words else ()))
            assert ended.status == 0, f"{' '.join(words)}: {ended.err}"


def test_no_page_is_forgotten() -> None:
    """A new page with code belongs into one of the lists above."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    with_code = {p.relative_to(ROOT).as_posix() for p in pages if blocks(p.read_text("utf-8"))}
    assert with_code == {*RUN_HERE, *RUN_ELSEWHERE, *NOT_RUN}
    for page, test in RUN_ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
