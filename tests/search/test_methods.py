from __future__ import annotations

from typing import Any, ClassVar, get_args

import pytest

from ppro.errors import SettingsError
from ppro.nn.strategies.learn_to_break import LearnToBreak
from ppro.parts import STRATEGIES
from ppro.parts.choices import Kind
from ppro.search.methods import WIDER, find_method, method_names, method_of, ppro_on
from ppro.settings.settings import Settings
from ppro.settings.space import Configuration, Space, draw_in_turns


def ppro_space(backbone: str, strategy: str, kind: Kind) -> Space:
    (space,) = ppro_on(backbone, strategy).spaces(kind)
    return space


def wide_spaces(strategy: str, kind: Kind) -> tuple[Space, ...]:
    plain = ppro_on("appnp", strategy).name
    return find_method(f"{plain}-wide").spaces(kind)


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
@pytest.mark.parametrize("backbone", ["appnp", "gcn", "gat", "gcnii"])
def test_every_configuration_can_be_trained(backbone: str, strategy: str, kind: Kind) -> None:
    space = ppro_space(backbone, strategy, kind)
    for configuration in space.draw(50):
        named = {**configuration, "backbone": backbone, "strategy": strategy}
        made = Settings.model_validate(named)
    # What varies inside a batch must be allowed to differ between its runs.
    assert set(space.values) <= made.per_run
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


every_kind = pytest.mark.parametrize("kind", get_args(Kind))
# What a strategy may see, choose or keep from the backbone; all else is the backbone's form.
OWN = {"max_steps", "use_progress"}
LEARNED = {"epsilon", "lambda1", "lr_controller", "propagation_bias", "judge_share"}


def forms(strategy: str, kind: Kind) -> list[Configuration]:
    """The shapes of a wide search without what a strategy has to itself, each once."""
    shapes = [shape for space in wide_spaces(strategy, kind) for shape in space.shapes]
    own = OWN if kind == "heterophilous" else set()
    bare = [{k: v for k, v in shape.items() if k not in own} for shape in shapes]
    return [form for i, form in enumerate(bare) if form not in bare[:i]]


@every_kind
@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
def test_a_wide_search_tries_every_form_in_turn(strategy: str, kind: Kind) -> None:
    spaces = wide_spaces(strategy, kind)
    shapes = [shape for space in spaces for shape in space.shapes]
    drawn = draw_in_turns(spaces, 2 * len(shapes))
    for configuration, shape in zip(drawn, [*shapes, *shapes], strict=True):
        assert shape.items() <= configuration.items()
    assert len({tuple(sorted(c.items())) for c in drawn}) == 2 * len(shapes)
    assert "features" in {shape.get("form") for shape in shapes}


@every_kind
@pytest.mark.parametrize("name", ["l2b-wide", "l2u-wide", "appnp-none-wide"])
def test_every_configuration_of_a_wide_search_can_be_trained(name: str, kind: Kind) -> None:
    method = find_method(name)
    for configuration in method.configurations(kind, 16):
        chosen = Settings.model_validate({**configuration, **method.settings})
        assert (chosen.training.consistency > 0) == (kind == "homophilous")
    for space in wide_spaces(method.settings["strategy"], kind):
        assert set(space.values) <= chosen.per_run


@every_kind
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_a_strategy_has_the_forms_and_the_values_of_the_backbone(strategy: str, kind: Kind) -> None:
    assert forms(strategy, kind) == forms("none", kind)
    pairs = zip(wide_spaces(strategy, kind), wide_spaces("none", kind), strict=True)
    for ours, alone in pairs:
        assert len(ours.shapes) == len(alone.shapes)
        assert {k: v for k, v in ours.values.items() if k not in LEARNED} == alone.values


@every_kind
def test_a_wide_search_is_of_more_configurations(kind: Kind) -> None:
    assert len(find_method("l2b").configurations(kind, 16)) == 16
    for name in ("l2b-wide", "l2u-wide", "appnp-none-wide"):
        drawn = find_method(name).configurations(kind, 16)
        assert len({tuple(sorted(c.items())) for c in drawn}) == len(drawn) == WIDER * 16


@pytest.mark.parametrize("name", method_names())
def test_every_method_is_found_by_its_name(name: str) -> None:
    method = find_method(name)
    assert method.name == name
    assert method.title
    candidates = method.candidates("homophilous", 4)
    assert len(candidates) == (WIDER * 4 if method.wide else 4)
    plain = {k: v for k, v in method.settings.items() if k in ("model", "backbone", "strategy")}
    assert method_of(candidates[0]).settings == plain


def test_a_wrong_method_is_told() -> None:
    with pytest.raises(SettingsError, match="did you mean 'gcnii'"):
        find_method("gcn2i")
    with pytest.raises(SettingsError, match="no method"):
        find_method("gcn-l2b-wide")
    with pytest.raises(SettingsError, match="use --space paper"):
        find_method("sgc-l2b").spaces("homophilous")


def test_a_strategy_of_ones_own_is_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STRATEGIES, "_parts", dict(STRATEGIES._parts))

    class Own(LearnToBreak):
        name = "own-rule"
        title = "Own"
        values: ClassVar[Any] = {"homophilous": {"epsilon": (0.25, 0.75)}}

    assert Own.name in STRATEGIES
    method = find_method("own-rule")
    assert method.title == "Own"
    (space,) = method.spaces("homophilous")
    assert space.values["epsilon"] == (0.25, 0.75)
    assert "epsilon" not in find_method("gcn-own-rule").spaces("heterophilous")[0].values
    assert {"own-rule", "gcnii-own-rule", "own-rule-wide"} <= set(method_names())
    assert method_of(Settings(strategy="own-rule", backbone="gat")).name == "gat-own-rule"
