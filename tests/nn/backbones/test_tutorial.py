"""The tutorial's code runs, and is as short as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ppro.nn.backbones import Backbone
from ppro.training.fit import Fit

TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorials" / "new-backbone.md"


@pytest.fixture(scope="module")
def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", TUTORIAL.read_text("utf-8"), re.DOTALL | re.M)


def test_a_backbone_takes_less_than_thirty_lines(blocks: list[str]) -> None:
    assert len(blocks[0].splitlines()) < 30


def test_the_code_trains(blocks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own text
    assert issubclass(names["Sage"], Backbone)
    assert capsys.readouterr().out.count("test accuracy") == 2
    for key in ("result", "adapted"):
        assert isinstance(names[key], Fit)
        assert float(names[key].test_accuracy.min()) > 80
