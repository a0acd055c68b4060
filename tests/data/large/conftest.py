from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data.large import LargePlan, generate_large

PLAN = LargePlan(nodes=600, degree=8, classes=3, features=5, signal=2.0, train=0.3, val=0.2, seed=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small graph in the form of a large one."""
    made = tmp_path / "graph"
    made.mkdir()
    generate_large(made, PLAN)
    return made
