"""Recipes: a dataset, a split and settings for it, as TOML."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ppro.errors import SettingsError
from ppro.files import read_text
from ppro.settings.explain import explain
from ppro.settings.settings import Settings, parse_settings, without_foreign


class PaperResult(BaseModel):
    """The number the paper prints for a recipe's dataset and strategy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accuracy: float = Field(ge=0, le=100)
    std: float | None = None
    table: str


class Found(BaseModel):
    """How the settings of a recipe were found; accuracy in percent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = Field(description="whose search found them")
    configurations: int = Field(ge=0, description="searched for all that competed")
    runs: int = Field(ge=1, description="runs behind the validation accuracy")
    validation: float = Field(ge=0, le=100)


class Recipe(BaseModel):
    """A dataset, a split and the settings for it, with the paper's number where it has one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str
    split: str
    settings: Settings = Field(default_factory=Settings)
    found: Found | None = None
    paper: PaperResult | None = None
    note: str = ""


LONGEST = 200
"""Characters that are shown of what is wrong with a text."""
_TABLES: dict[str, type[BaseModel]] = {"found": Found, "paper": PaperResult}


def parse_recipe(text: str, where: str) -> Recipe:
    """Read a recipe from TOML text.

    Raises:
        SettingsError: the text is not TOML, a key is unknown or a value out of range.
    """
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:LONGEST]
        raise SettingsError(f"{where}: not valid TOML: {reason}") from None
    given = values.get("settings", {})
    if isinstance(given, Mapping):
        values["settings"] = parse_settings(without_foreign(given), where, "settings")
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise SettingsError(explain(error, where, _valid_keys(error))) from None


def _valid_keys(error: ValidationError) -> tuple[str, ...]:
    """Return the keys of the table in which an error lies."""
    path = error.errors()[0]["loc"]
    table = _TABLES.get(str(path[0]), Recipe) if path[1:] else Recipe
    return tuple(table.model_fields)


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file."""
    try:
        text = read_text(path)
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise SettingsError(f"{path}: {reason}; --recipe takes a TOML file or a name") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not a text file; a recipe is TOML in UTF-8") from None
    return parse_recipe(text, str(path))


def recipe_toml(recipe: Recipe) -> str:
    """Return a recipe as TOML text, every setting spelled out in its group."""
    return tomli_w.dumps(recipe.model_dump(exclude_none=True))


def short_recipe_toml(recipe: Recipe) -> str:
    """Return a recipe as TOML text, with the settings that differ from the defaults, flat."""
    values = recipe.model_dump(exclude_none=True, exclude_defaults=True)
    strategy = recipe.settings.strategy
    usual = Settings(strategy=strategy).flat()
    given = recipe.settings.flat()
    changed = {k: v for k, v in given.items() if v is not None and v != usual.get(k)}
    return tomli_w.dumps({**values, "settings": {"strategy": strategy, **changed}})
