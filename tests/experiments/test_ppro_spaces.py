from __future__ import annotations

from typing import get_args

import pytest

from ppro.config import PER_RUN, Settings
from ppro.experiments.methods import WIDER, find_method
from ppro.experiments.ppro_spaces import ppro_space, wide_spaces
from ppro.space import Kind, draw_in_turns


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
@pytest.mark.parametrize("backbone", ["appnp", "gcn", "gat", "gcnii"])
def test_every_configuration_can_be_trained(backbone: str, strategy: str, kind: Kind) -> None:
    space = ppro_space(backbone, strategy, kind)
    for configuration in space.draw(50):
        Settings.model_validate({**configuration, "backbone": backbone, "strategy": strategy})
    # What varies inside a batch must be allowed to differ between its runs.
    assert set(space.values) <= set(PER_RUN)
    assert ("epsilon" in space.values) == (strategy != "none")
    assert ("step_decay" in space.values) == (backbone == "gcnii")


def test_features_of_heterophilous_graphs_are_taken_as_they_are() -> None:
    for backbone in ("appnp", "gcn", "gat", "gcnii"):
        shapes = ppro_space(backbone, "l2b", "heterophilous").shapes
        assert {shape["feature_norm"] for shape in shapes} == {"none"}


def test_alone_the_backbone_may_search_its_depth() -> None:
    def depths(strategy: str) -> set[int]:
        shapes = ppro_space("appnp", strategy, "heterophilous").shapes
        return {shape["max_steps"] for shape in shapes}

    assert len(depths("none")) > len(depths("l2b"))


@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
def test_a_wide_search_tries_every_form_in_turn(strategy: str) -> None:
    spaces = wide_spaces(strategy)
    drawn = draw_in_turns(spaces, 12)
    shapes = [shape for space in spaces for shape in space.shapes]
    for configuration, shape in zip(drawn, [*shapes, *shapes], strict=False):
        assert shape.items() <= configuration.items()
        Settings.model_validate({**configuration, "strategy": strategy})
    assert len({tuple(sorted(c.items())) for c in drawn}) == 12


def test_a_wide_search_is_of_more_configurations() -> None:
    wide, plain = find_method("l2b-wide"), find_method("l2b")
    assert len(plain.configurations("heterophilous", 16)) == 16
    assert len(wide.configurations("heterophilous", 16)) == WIDER * 16
    alone = find_method("appnp-none-wide")
    assert len(alone.configurations("heterophilous", 16)) == WIDER * 16
