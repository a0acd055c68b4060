from __future__ import annotations

from typing import Any

import pytest

from ppro.nn.strategies.base import Strategy
from ppro.nn.strategies.learn_to_break import LearnToBreak
from ppro.search.choice import choose_recipe, form_of_controllers

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


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ({}, {"teaching": "compare"}),
        ({"strategy": "l2u", "max_steps": 8}, {"teaching": "compare"}),
        ({"judges": "train"}, {"teaching": "compare"}),
        ({"strategy": "none"}, {}),
        ({"teaching": "paper"}, {}),
        ({"epsilon": 0.8}, {}),
        ({"use_propagation": False}, {}),
    ],
    ids=str,
)
def test_controllers_compare_where_nothing_says_otherwise(
    given: dict[str, Any], form: dict[str, Any]
) -> None:
    assert form_of_controllers(given) == form


def test_a_strategy_without_a_comparing_form_has_the_papers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LearnToBreak, "follow", Strategy.follow)
    assert form_of_controllers({"strategy": "l2b"}) == {}


@pytest.mark.parametrize("comparing", [True, False])
def test_a_recipe_says_what_form_its_controllers_have(comparing: bool) -> None:
    for dataset, compares in (("cora", True), ("pubmed", False), ("planted", comparing)):
        found = choose_recipe(
            dataset, None, split=None, options={}, changes={"lr": 0.02}, comparing=comparing
        )
        assert (found.settings.controllers.teaching == "compare") == compares
