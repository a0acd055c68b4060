"""Write the recipes that ship with the package from the results: ``make recipes``."""

from __future__ import annotations

import sys
from pathlib import Path

from ppro.data import DATASETS
from ppro.paper import design
from ppro.paper.choice import Proposal, choose, recipe_of
from ppro.paper.contest import STRATEGIES
from ppro.paper.store import Store
from ppro.settings.recipe import Recipe, short_recipe_toml
from ppro.settings.recipes import PAPER_DESIGN, shipped_recipe


def recipes(results: Path) -> dict[str, Recipe]:
    """The recipe of every graph and strategy that results speak of, by its name.

    Next to the best one stands the best of the paper's design.
    """
    store, made = Store(results), dict[str, Recipe]()
    for dataset in DATASETS:
        for strategy in STRATEGIES:
            name = f"{dataset}-{strategy}"
            proposal = choose(dataset, strategy, store)
            if proposal is not None:
                made[name] = recipe_of(proposal, shipped_recipe(name))
            papers = design.choose(dataset, strategy, store)
            if papers is not None:
                known = shipped_recipe(name).model_copy(update={"note": _note(name)})
                made[name + PAPER_DESIGN] = recipe_of(Proposal(*papers), known)
    return made


def _note(name: str) -> str:
    return f"The paper's design: APPNP without consistency. The best recipe is {name}."


def main(results: Path, folder: Path) -> None:
    """Write every recipe."""
    for name, recipe in recipes(results).items():
        (folder / f"{name}.toml").write_text(short_recipe_toml(recipe), encoding="utf-8")
        assert recipe.found is not None
        print(f"{name}: validation {recipe.found.validation} % ({recipe.found.method})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
