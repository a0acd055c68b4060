from __future__ import annotations

import pytest

from ppro.data import dataset_info, kind_of
from ppro.nn.backbones.gcn import GCN
from ppro.nn.strategies.learn_to_break import LearnToBreak
from ppro.paper.panels import PaperNumber
from ppro.paper.tables import OURS, TABLES, searches_behind
from ppro.parts import BACKBONES, STRATEGIES
from ppro.search.methods import find_method, method_names
from ppro.settings.recipes import recipe_names, shipped_recipe

every_table = pytest.mark.parametrize("name", TABLES)


@every_table
def test_rows_and_columns_exist(name: str) -> None:
    for panel in TABLES[name]().panels:
        assert set(panel.rows) <= set(method_names())
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
        assert {row for name in OURS for row in searches_behind(name)} == set(panel.rows)
        for row in panel.rows:
            for column in panel.columns:
                suits = kind_of(column.dataset) == "homophilous"
                wanted = suits or not find_method(row).for_few_labels
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


def test_parts_of_ones_own_have_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (STRATEGIES, BACKBONES):
        monkeypatch.setattr(registry, "_parts", dict(registry._parts))

    class OwnStrategy(LearnToBreak):
        name = "own-rule"
        title = "Own rule"

    class OwnBackbone(GCN):
        name = "own-net"
        title = "Own net"

    assert TABLES["homophilous"]().panels[0].rows[-1] == "own-rule"
    rows = TABLES["backbones"]().panels[0].rows
    assert rows[-3:] == ["own-net-none", "own-net-l2b", "own-net-l2u"]
    assert find_method(rows[-1]).title == "Own net, L2U"


def test_the_kind_of_a_graph_is_known() -> None:
    assert kind_of("cora") == "homophilous"
    assert kind_of("texas") == "heterophilous"
