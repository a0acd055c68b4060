"""What the searches of tables are offered: the paper's grid, and the spaces of Tables 3 and 4."""

from __future__ import annotations

import pytest

from ppro.errors import SettingsError
from ppro.paper.design import is_papers
from ppro.paper.tables import backbones, depth
from ppro.parts.choices import Kind
from ppro.search.grid import PAPER
from ppro.search.methods import find_method
from ppro.search.offers import ACTOR, BACKBONES, DEPTH, DESIGN, USUAL, Offer, check_space
from ppro.settings.settings import Settings

TRAINING = ("lr", "dropout", "weight_decay")
STRATEGIES = ("l2b", "l2u")


def tried(method: str, offer: Offer, number: int = 40) -> list[Settings]:
    return offer.candidates(find_method(method), "homophilous", number)


def choices(method: str, offer: Offer, key: str) -> set[object]:
    spaces = offer.spaces(find_method(method), "homophilous")
    assert len({space.values.get(key) for space in spaces if key in space.values}) == 1
    return {choice for space in spaces for choice in space.values.get(key, ())}


def test_the_grid_has_what_the_paper_states_and_nothing_else() -> None:
    penalties = {0.01, 0.1, 1.0, 10.0, 100.0}
    wanted = {
        "lr": {0.005, 0.01, 0.05, 0.1},
        "dropout": {k / 10 for k in range(10)},
        "weight_decay": {1e-5, 5e-4, 1e-4, 5e-3, 1e-3},
        "lambda1": penalties,
        "lambda2": penalties,
        "epsilon": {k / 10 for k in range(1, 10)},
    }
    (space,) = Offer(PAPER).spaces(find_method("l2b"), "homophilous")
    assert {key: set(values) for key, values in space.values.items()} == wanted
    assert all(len(set(values)) == len(values) for values in space.values.values())
    assert [shape["patience"] for shape in space.shapes] == [100, 200]
    first = Offer(PAPER).candidates(find_method("l2b"), "homophilous", 1)[0]
    assert first == Settings()
    (alone,) = Offer(PAPER).spaces(find_method("appnp-none"), "homophilous")
    assert set(alone.values) == {*TRAINING}


def test_the_grid_leaves_a_rival_its_published_depth() -> None:
    assert {s.network.max_steps for s in tried("gcn", Offer(PAPER))} == {2}
    assert {s.network.max_steps for s in tried("gcn", Offer(PAPER, 8))} == {8}


def test_without_a_name_a_method_has_its_own_space() -> None:
    method = find_method("l2b-wide")
    assert USUAL.candidates(method, "homophilous", 4) == method.candidates("homophilous", 4)
    assert USUAL.folder == ""
    assert USUAL.named(None) == USUAL
    assert USUAL.named(PAPER) == Offer(PAPER)
    assert Offer(DEPTH, 4).folder == "depth-4/"
    assert check_space("own") is None
    assert check_space(PAPER) == PAPER
    with pytest.raises(SettingsError, match=r"--space papr: .* did you mean 'paper'"):
        check_space("papr")


@pytest.mark.parametrize("network", ["gcn-scores", "gat-scores", "gcnii"])
def test_rival_backbone_and_strategies_of_table_3_train_alike(network: str) -> None:
    offer, rival = Offer(BACKBONES), network.removesuffix("-scores")
    names = (rival, *(f"{network}-{s}" for s in ("none", *STRATEGIES)))
    for key in TRAINING:
        found = [choices(name, offer, key) for name in names]
        assert found[0]
        assert all(one == found[0] for one in found)
    for strategy in STRATEGIES:
        settings = tried(f"{network}-{strategy}", offer)
        assert {s.controllers.teaching for s in settings} == {"paper", "compare"}
        assert min(s.network.max_steps for s in settings) >= 4
    sizes = [offer.size(find_method(name), "homophilous") for name in names]
    assert max(sizes) <= 4 * min(sizes)


def test_the_backbone_alone_may_be_the_original() -> None:
    offer = Offer(BACKBONES)
    assert 1 in {s.network.max_steps for s in tried("gcn-scores-none", offer)}
    assert {1, 8} == {s.flat()["output_heads"] for s in tried("gat-scores-none", offer)}
    assert {1, 8} == {s.flat()["output_heads"] for s in tried("gat", offer)}
    bare, rival = (tried(name, offer) for name in ("gcnii-none", "gcnii"))
    assert [s.network for s in bare] == [s.network for s in rival]
    assert [s.training for s in bare] == [s.training for s in rival]


@pytest.mark.parametrize("steps", [2, 64])
def test_every_method_of_table_4_is_searched_at_every_depth(steps: int) -> None:
    offer = Offer(DEPTH, steps)
    for row in depth().panels[0].rows:
        settings = tried(row, offer, 16)
        assert len(settings) == 16
        assert {s.network.max_steps for s in settings} == {steps}
        assert not any("norm" in s.network.model_fields_set for s in settings)
    assert 0.1 in choices("jknet-drop", offer, "edge_dropout")
    for key in TRAINING:
        alone = choices("appnp-none", offer, key)
        assert all(choices(name, offer, key) == alone for name in STRATEGIES)


def test_results_of_different_offers_never_meet() -> None:
    cells = [*backbones().cells(), *depth().cells()]
    assert len({cell.place for cell in cells}) == len(cells)
    assert all(cell.place.startswith(("cells/backbones/", "cells/depth-")) for cell in cells)
    assert all(cell.searched.startswith(("search/backbones/", "search/depth-")) for cell in cells)


def test_what_has_no_space_there_takes_its_own() -> None:
    method = find_method("sgc")
    assert Offer(BACKBONES).spaces(method, "homophilous") == method.spaces("homophilous")
    (space,) = Offer(DEPTH, 8).spaces(method, "homophilous")
    assert space.shapes == ({"max_steps": 8},)


@pytest.mark.parametrize("kind", ["homophilous", "heterophilous"])
def test_the_space_of_the_papers_design_has_nothing_beyond_it(kind: Kind) -> None:
    for name in ("appnp-none", *STRATEGIES):
        settings = Offer(DESIGN).candidates(find_method(name), kind, 40)
        assert len(settings) == 40
        assert all(is_papers(one) for one in settings)
    assert len({one.controllers.lambda2 for one in settings}) > 1


def test_the_space_of_actor_has_every_option_of_its_features() -> None:
    for name in ("appnp-none", *STRATEGIES):
        for one in Offer(ACTOR).candidates(find_method(name), "heterophilous", 40):
            flat = one.flat()
            assert (flat["concat"], flat["decay"], flat["feature_dropout"]) == (True, "all", 0.0)
            assert (flat["feature_norm"], flat["first_layer"]) == ("unit", "scaled")
    mlp = find_method("mlp")
    assert Offer(ACTOR).spaces(mlp, "heterophilous") == mlp.spaces("heterophilous")
