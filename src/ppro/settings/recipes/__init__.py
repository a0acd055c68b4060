"""The recipes that ship with the package: one TOML file per dataset and strategy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.recipe import Recipe, parse_recipe, read_recipe


def recipe_names() -> list[str]:
    """Names of the shipped recipes."""
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def shipped_recipe(name: str) -> Recipe:
    """A shipped recipe by its name, for example ``cora-l2b``."""
    names = recipe_names()
    if name not in names:
        hint = nearest(name, names, "see 'ppro recipes list'")
        raise SettingsError(f"no recipe '{name}'; {hint}")
    return parse_recipe((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"), name)


def find_recipe(name_or_path: str) -> Recipe:
    """A recipe from a file, or a shipped one by its name."""
    path = Path(name_or_path)
    if path.suffix == ".toml" or len(path.parts) != 1 or path.is_file():
        return read_recipe(path)
    return shipped_recipe(name_or_path)
