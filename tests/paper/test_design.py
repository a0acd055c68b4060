"""The paper's design, what goes beyond it, and the recipes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ppro.paper import design, shipped
from ppro.paper.cells import Cell
from ppro.paper.store import Store
from ppro.settings.recipes import PAPER_DESIGN, shipped_recipe
from ppro.settings.settings import Settings
from tests.paper.support import keep

SPLIT = "random-60-20-20"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"dropout": 0.8, "max_steps": 16, "form": "class", "epsilon": 0.9}, []),
        ({"concat": True, "self_loops": False, "weight_form": "tanh", "lambda2": 10.0}, []),
        ({"consistency": 1.0, "node_dropout": 0.5}, ["consistency", "node dropout"]),
        ({"fading": 2.0}, ["fading labels"]),
        ({"form": "features"}, ["features propagate"]),
        ({"teaching": "compare"}, ["comparing controllers"]),
        ({"judge_share": 0.2, "judges": "share"}, ["judges"]),
        ({"use_progress": True}, ["step inputs"]),
        ({"strategy": "none", "use_progress": True, "teaching": "compare"}, []),
        ({"backbone": "gcn"}, ["another network"]),
        ({"feature_dropout": 0.0}, ["dropout or first layer apart"]),
    ],
)
def test_what_goes_beyond_the_paper_is_named(changes: dict[str, Any], told: list[str]) -> None:
    settings = Settings(**changes)
    assert design.beyond(settings) == told
    assert design.is_papers(settings) == (not told)


def test_a_table_tells_the_network_and_its_options() -> None:
    told = design.options_of(Settings(concat=True, self_loops=False, judge_share=0.2, dropout=0.1))
    assert told == "appnp, form hidden, max_steps 10, concat yes, self_loops no, judge_share 0.2"
    alone = Settings(strategy="none", backbone="grand", consistency=1.0, use_progress=True)
    assert design.options_of(alone) == "grand, max_steps 10, consistency 1.0"


def put(store: Store, cell: Cell, val: float, **changes: Any) -> None:
    result = {"val_mean": val, "test_mean": 0.0, "settings": Settings(**changes)}
    keep(store, cell.place, result, method=cell.method, runs=10, configurations=16)


def test_validation_chooses_among_settings_of_the_design(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert design.choose("texas", "l2b", store) is None
    put(store, Cell("texas", SPLIT, "l2b-wide"), 99.0, form="features")
    assert design.choose("texas", "l2b", store) is None
    put(store, Cell("texas", SPLIT, "l2b"), 90.0, dropout=0.1)
    put(store, Cell("texas", SPLIT, "l2b", {"patience": 200}), 91.0, dropout=0.1, patience=200)
    put(store, Cell("texas", SPLIT, "l2b", {"use_progress": True}), 95.0, use_progress=True)
    found = design.choose("texas", "l2b", store)
    assert found is not None
    candidate, searched = found
    assert (candidate.validation, candidate.settings.training.patience) == (91.0, 200)
    assert searched == 16
    put(store, design.cell("texas", "l2b"), 92.0, dropout=0.3)
    found = design.choose("texas", "l2b", store)
    assert found is not None
    assert (found[0].settings.training.dropout, found[1]) == (0.3, 32)


def test_the_shipped_ones_are_of_the_design() -> None:
    names = design.names()
    assert len(names) == 3 * 10
    for name in names:
        recipe = shipped_recipe(name)
        assert design.is_papers(recipe.settings)
        assert name.removesuffix(PAPER_DESIGN) in recipe.note


def test_the_papers_number_stands_beside_its_design_alone() -> None:
    recipe = shipped_recipe("cora-l2b-paper")
    assert shipped.papers_number(recipe) == " (85.0)"
    more = recipe.settings.replace(consistency=1.0)
    assert shipped.papers_number(recipe.model_copy(update={"settings": more})) == ""
    assert shipped.papers_number(shipped_recipe("cornell-l2b-paper")) == ""
