from __future__ import annotations

from typing import Any

import pytest

from ppro.search.choice import choose_recipe

NONE: dict[str, Any] = {"split": None, "options": {}, "changes": {}}


@pytest.mark.parametrize(
    ("name", "metric"), [("minesweeper", "roc-auc"), ("questions", "roc-auc"), ("csbm", "accuracy")]
)
def test_a_graph_is_measured_as_it_usually_is(name: str, metric: str) -> None:
    assert choose_recipe(name, None, **NONE).settings.training.metric == metric
    rival = {**NONE, "options": {"model": "gcn"}}
    assert choose_recipe(name, None, **rival).settings.training.metric == metric


def test_unless_the_user_says_otherwise() -> None:
    said = {**NONE, "changes": {"metric": "macro-f1"}}
    assert choose_recipe("minesweeper", None, **said).settings.training.metric == "macro-f1"
    kept = choose_recipe("minesweeper", "cora-l2b", **NONE)
    assert kept.settings.training.metric == "accuracy"
