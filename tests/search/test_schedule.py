from __future__ import annotations

from typing import Any

import pytest

from ppro.search.choice import choose_recipe, form_of_controllers
from ppro.search.schedule import schedule_of, told_schedule
from ppro.settings.settings import Settings


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({}, {}),
        ({"epochs": 200}, {}),
        ({"epochs": 60}, {"warm_up": 15, "settle": 30}),
        ({"epochs": 1}, {"warm_up": 0, "settle": 1}),
        ({"epochs": 60, "settle": 40}, {}),
        ({"epochs": "many"}, {}),
    ],
)
def test_few_epochs_have_a_short_schedule(given: dict[str, Any], made: dict[str, Any]) -> None:
    assert schedule_of(given) == made
    assert Settings(teaching="compare", **made).controllers.teaching == "compare"
    assert form_of_controllers(given) == {"teaching": "compare", **made}


def test_who_does_not_compare_has_no_schedule() -> None:
    assert schedule_of({"epochs": 60}, Settings(teaching="paper")) == {}
    assert schedule_of({"epochs": 60}, Settings(strategy="none", teaching="compare")) == {}
    assert told_schedule({"teaching": "compare"}, Settings()) == ""


def test_a_shorter_schedule_is_told() -> None:
    asked: Any = {"split": None, "options": {"strategy": "l2b"}, "comparing": True}
    recipe = choose_recipe("minesweeper", None, changes={"epochs": 60}, **asked)
    own = recipe.settings.controllers
    assert (own.warm_up, own.settle) == (15, 30)
    assert "of 60, controllers warm up in 15 and settle in 30" in recipe.note
    usual = choose_recipe("minesweeper", None, changes={}, **asked)
    assert "few epochs" not in usual.note
    held = choose_recipe("minesweeper", None, changes={"epochs": 60, "warm_up": 5}, **asked)
    assert (held.settings.controllers.warm_up, held.settings.controllers.settle) == (5, 100)
