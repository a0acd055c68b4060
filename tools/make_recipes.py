"""Write the recipes that ship with the package from the results: ``make recipes``."""

from __future__ import annotations

import sys
from pathlib import Path

from ppro.data import DATASETS
from ppro.paper.choice import choose, recipe_of
from ppro.paper.contest import STRATEGIES
from ppro.paper.store import Store
from ppro.settings.recipe import Recipe, short_recipe_toml
from ppro.settings.recipes import shipped_recipe


def recipes(results: Path) -> dict[str, Recipe]:
    """The recipe of every graph and strategy that results speak of, by its name."""
    store, made = Store(results), dict[str, Recipe]()
    for dataset in DATASETS:
        for strategy in STRATEGIES:
            name = f"{dataset}-{strategy}"
            proposal = choose(dataset, strategy, store)
            if proposal is not None:
                made[name] = recipe_of(proposal, shipped_recipe(name))
    return made


def main(results: Path, folder: Path) -> None:
    """Write every recipe."""
    for name, recipe in recipes(results).items():
        (folder / f"{name}.toml").write_text(short_recipe_toml(recipe), encoding="utf-8")
        assert recipe.found is not None
        print(f"{name}: validation {recipe.found.validation} % ({recipe.found.method})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
