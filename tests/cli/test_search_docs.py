"""The tutorial on searching settings, executed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytest.importorskip("optuna")

TUTORIAL = Path(__file__).parents[2] / "docs/tutorials/search.md"


def test_the_tutorial_runs(ppro: Command, workplace: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL)
    commands = [shlex.split(line, comments=True) for code in blocks for line in code.splitlines()]
    assert len(commands) == 3
    for name, *words in commands:
        assert name == "ppro"
        ended = ppro(*words)
        assert ended.status == 0, ended.err
    found = {path.name for path in (workplace / "tuning/digits-l2b").iterdir()}
    assert found == {"recipe.toml", "search.json", "history.png", "importance.png"}
