from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.recipe import Recipe, parse_recipe, read_recipe, recipe_toml
from ppro.settings.settings import Settings, assignments, parse_settings

CHOICES = {
    **{
        key: get_args(f.annotation)
        for g in Settings().groups()
        for key, f in type(g).model_fields.items()
    },
    **{"model": ["ppro"], "strategy": ["l2u"], "backbone": ["gcn", "appnp"], "metric": ["roc-auc"]},
    "judges": ["share"],
}
NEEDED = {"judges": {"judge_share": 0.1}}
"""What a setting does not go without."""


def another(key: str) -> Any:
    """A valid value of a setting that is not its default."""
    default, choices = Settings().flat()[key], CHOICES.get(key) or ()
    if key == "measures":
        return ("heterophily", "degree")
    if key == "class_weight":
        return ("one=2", "two = three=0.5")
    if key in ("feature_shift", "feature_spread"):
        return (0.5, 2.0)
    if default is None:
        return 0.25
    if isinstance(default, bool):
        return not default
    if isinstance(default, str):
        return choices[-1]
    return default + 1 if isinstance(default, int) else default / 2 + 0.1


OTHER_VALUES = {key: another(key) for key in Settings().flat()}


def as_word(value: Any) -> str:
    if isinstance(value, tuple):
        return str(list(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_every_setting_can_be_set_from_the_command_line() -> None:
    words = [f"{key}={as_word(value)}" for key, value in OTHER_VALUES.items()]
    settings = Settings().replace(**assignments(words))
    assert settings.flat() == OTHER_VALUES


@pytest.mark.parametrize("key", list(OTHER_VALUES))
def test_each_alone(key: str) -> None:
    base = Settings().replace(**NEEDED.get(key, {}))
    settings = base.replace(**assignments([f"{key} = {as_word(OTHER_VALUES[key])}"]))
    assert settings.flat()[key] == OTHER_VALUES[key]


def test_values_read_as_toml_or_as_words() -> None:
    words = ["epochs=1_000", "lr=1e-2", "strategy='l2u'", "decay=all", "self_loops=False"]
    settings = Settings().replace(**assignments(words))
    assert settings.training.epochs == 1000
    assert settings.training.lr == 0.01
    assert settings.strategy == "l2u"
    assert settings.training.decay == "all"
    assert not settings.inputs.self_loops


@pytest.mark.parametrize(("strategy", "bias"), [("l2b", -2.0), ("l2u", 4.0)])
def test_the_initial_bias_follows_the_strategy(strategy: str, bias: float) -> None:
    made = parse_settings({"strategy": strategy}, "here")
    assert made.controllers.propagation_bias == bias
    for other in ("l2b", "l2u", "none"):
        start = parse_settings({"strategy": other}, "here")
        assert start.replace(strategy=strategy).controllers.propagation_bias == bias
    assert (
        made.replace(propagation_bias=0.5, hidden=8).replace(lr=0.1).controllers.propagation_bias
        == 0.5
    )
    assert made.replace(strategy="none", propagation_bias=0.5).controllers.propagation_bias == 0.5


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"dropuot": 0.5}, "unknown key 'dropuot'; did you mean 'dropout'?"),
        ({"?": 0.5}, "valid: alpha, backbone, "),
        ({"alpha": 1.0}, "alpha: input should be less than 1 (got 1.0)"),
        ({"alpha": float("nan")}, "alpha: input should be a finite number"),
        ({"lr": 0}, "lr: input should be greater than 0 (got 0)"),
        ({"lr": float("inf")}, "lr: input should be a finite number"),
        ({"max_steps": 2.5}, "max_steps: input should be a valid integer"),
        ({"strategy": "L2B"}, "no strategy 'L2B'; did you mean 'l2b'?"),
        ({"epochs": [1, 2]}, "epochs: input should be a valid integer (got [1, 2])"),
    ],
)
def test_wrong_settings(values: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(told)) as error:
        parse_settings(values, "here")
    assert str(error.value).startswith("here: ")
    assert "\n" not in str(error.value)


HEAD = 'dataset = "cora"\nsplit = "public"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = = 1", "not valid TOML: Invalid value (at line 1"),
        ('dataset = "cora"', "the key 'split' is missing; add it"),
        (HEAD + "[setings]", "unknown key 'setings'; did you mean 'settings'?"),
        (HEAD + "[settings]\nepochz = 1", "'settings.epochz'; did you mean 'epochs'?"),
        (HEAD + '[paper]\naccurate = 1\ntable = ""', "the key 'paper.accuracy' is missing"),
        (
            HEAD + '[paper]\naccuracy = 1\ntable = ""\nstdd = 1',
            "'paper.stdd'; did you mean 'std'?",
        ),
        (HEAD + '[paper]\naccuracy = 101\ntable = ""', "should be less than or equal to 100"),
        (HEAD + "settings = 3", "settings: input should be a valid dictionary"),
        (HEAD + "[settings]\nhidden = 0", "settings.hidden: input should be greater than"),
    ],
)
def test_wrong_recipes(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(told)) as error:
        parse_recipe(text, "a.toml")
    assert str(error.value).startswith("a.toml: ")
    assert "\n" not in str(error.value)


def test_a_recipe_survives_writing_and_reading(tmp_path: Path) -> None:
    recipe = Recipe(dataset="texas", split="public", settings=Settings(**OTHER_VALUES), note="ü")
    path = tmp_path / "r.toml"
    path.write_text(recipe_toml(recipe), encoding="utf-8")
    assert read_recipe(path) == recipe


@pytest.mark.parametrize("word", ["dropout", "=1", ""])
def test_words_without_key_or_value(word: str) -> None:
    with pytest.raises(SettingsError, match="expected key=value"):
        assignments([word])


def test_nearest_names_one_or_all() -> None:
    assert nearest("epsilom", ["alpha", "epsilon"]) == "did you mean 'epsilon'?"
    assert nearest("ID", ["idea", "Id"]) == "did you mean 'Id'?"
    assert nearest("?", ["b", "a"]) == "valid: a, b"
    assert nearest("?", ["b", "a"], "look around") == "look around"


def test_settings_that_shape_the_program_exclude_numbers() -> None:
    program = Settings().program()
    assert "seed" not in program
    assert "lr" not in program
    assert program["hidden"] == 64
