from __future__ import annotations

import pytest

from ppro.data import dataset_info
from ppro.errors import SettingsError
from ppro.paper.methods import METHODS, OURS, find_method, kind_of, searches
from ppro.paper.tables import TABLES, PaperNumber
from ppro.settings.recipes import recipe_names, shipped_recipe

every_table = pytest.mark.parametrize("name", TABLES)


@every_table
def test_rows_and_columns_exist(name: str) -> None:
    for panel in TABLES[name]().panels:
        assert set(panel.rows) <= set(METHODS)
        assert len(set(panel.rows)) == len(panel.rows)
        for column in panel.columns:
            assert column.split in dataset_info(column.dataset).splits
        for ours, theirs in panel.pairs:
            assert {ours, theirs} <= set(panel.rows)


@every_table
def test_every_number_of_the_paper_has_its_place(name: str) -> None:
    for panel in TABLES[name]().panels:
        headings = {column.heading for column in panel.columns}
        for row, heading in panel.paper:
            assert row in panel.rows
            assert heading in headings
            assert (row, heading) not in panel.left_out


def test_the_paper_leaves_jknet_of_two_layers_empty() -> None:
    cora = TABLES["depth"]().panels[0]
    assert cora.cell("jknet", cora.columns[0]) is None
    assert cora.cell("jknet", cora.columns[1]) is not None
    assert cora.paper["l2b", "8"] == PaperNumber(85.0)


def test_both_protocols_and_both_cornells() -> None:
    random, geom = TABLES["heterophilous"]().panels
    for panel in (random, geom):
        datasets = [column.dataset for column in panel.columns]
        assert {"cornell", "cornell-legacy", "chameleon", "chameleon-deduplicated"} <= set(datasets)
    assert not geom.paper


def test_every_search_behind_the_recipes_but_consistency_is_for_every_graph() -> None:
    for panel in TABLES["recipes"]().panels:
        assert {row for name in OURS for row in searches(name)} == set(panel.rows)
        for row in panel.rows:
            for column in panel.columns:
                wanted = not METHODS[row].for_few_labels or kind_of(column.dataset) == "homophilous"
                assert (panel.cell(row, column) is not None) == wanted


def test_recipes_and_tables_quote_the_same_numbers() -> None:
    tables = {"Table 1": TABLES["homophilous"](), "Table 2": TABLES["heterophilous"]()}
    for name in recipe_names():
        recipe = shipped_recipe(name)
        if recipe.paper is None or recipe.paper.table not in tables:
            continue
        strategy = recipe.settings.strategy
        method = "appnp" if strategy == "none" else strategy
        heading = dataset_info(recipe.dataset).title
        number = tables[recipe.paper.table].panels[0].paper[method, heading]
        assert (number.mean, number.std) == (recipe.paper.accuracy, recipe.paper.std)


def test_a_wrong_method_is_told() -> None:
    with pytest.raises(SettingsError, match="did you mean 'gcnii'"):
        find_method("gcn2i")
    assert kind_of("cora") == "homophilous"
    assert kind_of("texas") == "heterophilous"
