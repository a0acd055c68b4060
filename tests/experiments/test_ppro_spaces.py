from __future__ import annotations

from typing import get_args

import pytest

from ppro.config import PER_RUN, Settings
from ppro.experiments.ppro_spaces import ppro_space
from ppro.space import Kind


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
