"""``ppro recipes``: the settings that ship with the package."""

from __future__ import annotations

from typing import Annotated

import typer

from ppro.cli import console
from ppro.settings.recipe import PaperResult, recipe_toml
from ppro.settings.recipes import find_recipe, recipe_names, shipped_recipe

app = typer.Typer(
    help="List and show recipes: settings per dataset and strategy.", no_args_is_help=True
)


@app.command("list")
def list_recipes() -> None:
    """List the shipped recipes with the paper's number."""
    rows = [("recipe", "split", "strategy", "L", "paper")]
    for name in recipe_names():
        recipe = shipped_recipe(name)
        settings = recipe.settings
        paper = _paper(recipe.paper)
        rows.append((name, recipe.split, settings.strategy, str(settings.network.max_steps), paper))
    console.out.print(console.aligned(rows, right=(3,)))
    console.out.print()
    console.out.print(console.paragraph(f"L: most propagation steps. {console.CORNELL}"))


def _paper(paper: PaperResult | None) -> str:
    return "-" if paper is None else f"{paper.accuracy:5} ({paper.table})"


@app.command("show")
def show(name: Annotated[str, typer.Argument(help="A recipe's name or file.")]) -> None:
    """Show a recipe with every setting spelled out, as TOML.

    [bold]Examples[/bold]

      ppro recipes show cora-l2b

      ppro recipes show cora-l2b > mine.toml && ppro train cora --recipe mine.toml
    """
    print(recipe_toml(find_recipe(name)), end="")
