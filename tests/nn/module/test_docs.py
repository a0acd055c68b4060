"""The page docs/module.md runs, on smaller graphs, and the README's loop is short."""

from __future__ import annotations

import re
import runpy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).parents[3]
PAGE, README = (ROOT / name for name in ("docs/module.md", "README.md"))
SMALLER = {
    "100_000": "3_000",
    "epochs=100": "epochs=3",
    "epochs=10)": "epochs=2)",
    "range(50)": "range(5)",
    "max_epochs=30": "max_epochs=3",
    "GNNExplainer(epochs=50)": "GNNExplainer(epochs=3)",
}


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    # Machine code needs g++ and the better part of a minute; the program is the same without.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    torch.compiler.reset()
    torch.manual_seed(0)
    names: dict[str, Any] = {}
    text = "\n".join(blocks(PAGE))
    for long, short in SMALLER.items():
        assert long in text
        text = text.replace(long, short)
    exec(compile(text, str(PAGE), "exec"), names)  # noqa: S102 - our own text
    told = re.findall(r"(?:mini-batches|whole graph) +([\d.]+) %", capsys.readouterr().out)
    assert len(told) == 2


def test_the_loop_of_the_readme_has_at_most_30_lines() -> None:
    (loop,) = [block for block in blocks(README) if "ppro.nn.PPro" in block]
    assert len(loop.splitlines()) <= 30


def test_the_tool_that_measures_the_readme_finds_its_loop() -> None:
    names = runpy.run_path(str(ROOT / "tools" / "module_accuracy.py"))
    assert "manual_seed(0)" in names["loop"]()
    assert "best = max(best" in names["loop"]()
