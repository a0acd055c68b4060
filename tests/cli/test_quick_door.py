"""Help and lists come without PyTorch, and at once."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import ppro.cli
from ppro.settings.recipes import recipe_heads, shipped_recipe
from tests.cli.test_help import commands

ASKED = [
    ("--help",),
    ("--version",),
    ("data", "list"),
    ("recipes", "list"),
    *((*name.split(), "--help") for name in (*commands(), "bench", "data", "recipes")),
]
SLOW = ("torch", "numpy", "scipy", "pandas", "optuna", "matplotlib")
CODE = """
import sys
from pathlib import Path
from ppro.__main__ import main
sys.argv = ["ppro", *{words!r}]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("imported", [name for name in {slow!r} if name in sys.modules])
"""


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_no_command_imports_what_it_does_not_need(words: tuple[str, ...]) -> None:
    code = CODE.format(words=list(words), slow=SLOW)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "imported []"


def cpu_seconds(*words: str) -> float:
    """Return what a process takes, in seconds of all cores."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "ppro", *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_takes_little_time() -> None:
    if os.environ.get("COVERAGE_PROCESS_START") or "coverage" in sys.modules:
        pytest.skip("coverage slows every line down")
    assert min(cpu_seconds("--help") for _ in range(3)) < 0.6


def test_the_head_of_a_recipe_is_that_of_the_whole() -> None:
    for head in recipe_heads():
        recipe = shipped_recipe(head.name)
        settings = recipe.settings
        assert (head.dataset, head.split) == (recipe.dataset, recipe.split)
        assert head.backbone == settings.backbone
        assert (head.strategy, head.max_steps) == (settings.strategy, settings.network.max_steps)
        assert bool(head.paper) == (recipe.paper is not None)


def test_no_command_imports_another() -> None:
    folder = Path(ppro.cli.__file__).parent
    shared = {"console", "streams", "options", "file_options", "method_options"}
    shared |= {"tracking_options", "outcome", "measured"}
    joined = {
        "bench": {"bench_distributed", "bench_large", "bench_scale"},
        "train": {"searching", "afterwards"},
    }
    for path in folder.glob("*.py"):
        if path.stem == "__init__":
            continue
        text = path.read_text(encoding="utf-8")
        found = set(re.findall(r"from ppro\.cli\.(\w+) import", text))
        for names in re.findall(r"from ppro\.cli import ([\w, ]+)", text):
            found |= {name.strip() for name in names.split(",")}
        assert found <= shared | joined.get(path.stem, set()), path.name
