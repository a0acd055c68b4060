"""The recipes that ship with the package: one TOML file per dataset and strategy.

This file finds them by name; nothing but recipes lives here.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.groups import NetworkSettings
from ppro.settings.recipe import Recipe, parse_recipe, read_recipe

PAPER_DESIGN = "-paper"
"""What the names of recipes end with that are of the paper's design, next to the best ones."""


@dataclass(frozen=True)
class Head:
    """What a list shows of a recipe; read without the network's class, which needs PyTorch."""

    name: str
    dataset: str
    split: str
    strategy: str
    backbone: str
    max_steps: int
    paper: str


def recipe_heads() -> list[Head]:
    """Return the heads of the shipped recipes, by name."""
    return [_head(name) for name in recipe_names()]


def _head(name: str) -> Head:
    values = tomllib.loads(_text(name))
    settings, paper = values.get("settings", {}), values.get("paper")
    steps = settings.get("max_steps", NetworkSettings.model_fields["max_steps"].default)
    printed = "" if paper is None else f"{paper['accuracy']:5} ({paper['table']})"
    strategy = settings.get("strategy", "l2b")
    backbone = settings.get("backbone", "appnp")
    return Head(name, values["dataset"], values["split"], strategy, backbone, steps, printed)


def _text(name: str) -> str:
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes."""
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def shipped_recipe(name: str) -> Recipe:
    """Return a shipped recipe by its name, for example ``cora-l2b``."""
    names = recipe_names()
    if name not in names:
        hint = nearest(name, names, "see 'ppro recipes list'")
        raise SettingsError(f"no recipe '{name}'; {hint}")
    return parse_recipe(_text(name), name)


def find_recipe(name_or_path: str) -> Recipe:
    """Return a recipe from a file, or a shipped one by its name."""
    path = Path(name_or_path)
    if path.suffix == ".toml" or len(path.parts) != 1 or path.is_file():
        return read_recipe(path)
    return shipped_recipe(name_or_path)
