"""The README section and the tutorial on graphs of one's own, executed."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.test_own_graph import write_tables

pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs/tutorials/your-own-graph.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Your own graph\n")[1].split("\n## ")[0]


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL)


def commands(code: str) -> list[list[str]]:
    return [shlex.split(line, comments=True) for line in code.splitlines() if line.strip()]


def shorter(words: list[str]) -> tuple[str, ...]:
    """A training that searches its settings first takes as long as its budget."""
    return ("--budget", "3") if words[0] == "train" else ()


def test_three_commands_lead_from_files_to_predictions(ppro: Command, workplace: Path) -> None:
    write_tables(workplace, nodes=90)
    ((_, code),) = blocks(SECTION)
    assert len(commands(code)) == 3
    for name, *words in commands(code):
        assert name == "ppro"
        ended = ppro(*words, *shorter(words))
        assert ended.status == 0, ended.err
    with (workplace / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 90
    assert all(row["predicted"] for row in rows)


def test_the_tutorial_runs(ppro: Command, workplace: Path) -> None:
    found = blocks(TUTORIAL)
    assert {kind for kind, _ in found} == {"sh", "python"}
    for kind, code in found:
        if kind == "python":
            subprocess.run([sys.executable, "-c", code], check=True, cwd=workplace)
            continue
        for name, *words in commands(code):
            assert name == "ppro"
            ended = ppro(*words, *shorter(words))
            assert ended.status == 0, ended.err
    for name in ("predictions.csv", "predictions.parquet", "new.csv", "another/settings.toml"):
        assert (workplace / name).is_file()
