from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data import DATASETS, PAPERS
from ppro.errors import SettingsError
from ppro.settings.recipes import PAPER_DESIGN, find_recipe, recipe_names, shipped_recipe

GRAPHS = list(PAPERS)
STRATEGIES = ("l2b", "l2u", "none")

Row = dict[str, float | tuple[float, float]]

TABLE_1: dict[str, Row] = {
    "none": {"cora": 83.3, "citeseer": 71.8, "pubmed": 80.1},
    "l2b": {"cora": (85.0, 0.8), "citeseer": (74.0, 0.8), "pubmed": (81.1, 0.4)},
    "l2u": {"cora": (85.0, 0.4), "citeseer": (72.7, 0.9), "pubmed": (81.1, 0.5)},
}
"""The paper's Table 1: APPNP, L2B and L2U on homophilous graphs."""

TABLE_2: dict[str, Row] = {
    "none": {"chameleon": 54.30, "cornell-legacy": 73.51, "texas": 65.41, "wisconsin": 69.02},
    "l2b": {"chameleon": 63.68, "cornell-legacy": 86.22, "texas": 85.67, "wisconsin": 85.29},
    "l2u": {"chameleon": 54.42, "cornell-legacy": 84.32, "texas": 85.67, "wisconsin": 86.86},
}
"""The paper's Table 2: APPNP, L2B and L2U on heterophilous graphs; its Cornell is the old file."""

TABLE_5: dict[str, Row] = {"l2b": {"actor": 36.8}, "l2u": {"actor": 37.1}}
"""The paper's Table 5 where it names a graph that the tables above do not."""

TABLES = {"Table 1": TABLE_1, "Table 2": TABLE_2, "Table 5": TABLE_5}

Printed = dict[str, tuple[str, float, float | None]]


def printed() -> Printed:
    """Table, accuracy and spread that the paper prints, by the name of the recipe."""
    numbers: Printed = {}
    for table, strategies in TABLES.items():
        for strategy, row in strategies.items():
            for dataset, number in row.items():
                mean, std = number if isinstance(number, tuple) else (number, None)
                numbers[f"{dataset}-{strategy}"] = (table, mean, std)
    return numbers


def test_there_is_one_for_every_graph_of_the_paper_and_strategy() -> None:
    graphs = (*PAPERS, "digits", "csbm")
    best = [f"{graph}-{s}" for graph in graphs for s in STRATEGIES]
    papers = [f"{graph}-{s}{PAPER_DESIGN}" for graph in PAPERS for s in STRATEGIES]
    assert recipe_names() == sorted([*best, *papers])


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_is_what_its_name_says(name: str) -> None:
    recipe = shipped_recipe(name)
    assert f"{recipe.dataset}-{recipe.settings.strategy}" == name.removesuffix(PAPER_DESIGN)
    assert recipe.split == DATASETS[recipe.dataset].splits[0]
    assert recipe.settings.backbone in ("appnp", "grand")
    assert recipe.settings.seed == 0


@pytest.mark.parametrize("name", recipe_names())
def test_its_number_is_the_one_the_paper_prints(name: str) -> None:
    paper = shipped_recipe(name).paper
    plain = name.removesuffix(PAPER_DESIGN)
    if plain not in printed():
        assert paper is None
    else:
        assert paper is not None
        assert (paper.table, paper.accuracy, paper.std) == printed()[plain]


def test_every_number_of_the_paper_has_a_recipe() -> None:
    assert set(printed()) <= set(recipe_names())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cornell_says_which_file_it_is(strategy: str) -> None:
    assert "legacy file" in shipped_recipe(f"cornell-{strategy}").note
    assert "Texas's" in DATASETS[shipped_recipe(f"cornell-legacy-{strategy}").dataset].note


def test_a_recipe_is_found_by_name_or_path(tmp_path: Path) -> None:
    assert find_recipe("cora-l2b") == shipped_recipe("cora-l2b")
    path = tmp_path / "mine"
    path.write_text('dataset = "cora"\nsplit = "public"\n')
    assert find_recipe(str(path)).dataset == "cora"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cora-l2c", "did you mean 'cora-l2"),
        ("?", "see 'ppro recipes list'"),
        ("gone.toml", "cannot be read"),
        ("gone/cora-l2b", "cannot be read"),
    ],
)
def test_an_unknown_recipe(name: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        find_recipe(name)
