"""``ppro recipes``: the settings that ship with the package."""

from typing import Annotated

import typer

from ppro.cli import console
from ppro.data.catalog import DATASETS

app = typer.Typer(
    help="List and show recipes: settings per dataset and strategy.", no_args_is_help=True
)


@app.command("list")
def list_recipes() -> None:
    """List the shipped recipes with the paper's number."""
    from ppro.settings.recipes import recipe_heads

    heads = recipe_heads()
    rows = [("recipe", "split", "network", "L", "paper")]
    rows += [(h.name, h.split, h.backbone, str(h.max_steps), h.paper or "-") for h in heads]
    console.out.print(console.aligned(rows, right=(3,)))
    console.out.print()
    listed = (DATASETS[head.dataset].note for head in heads)
    notes = " ".join(dict.fromkeys(note for note in listed if note))
    told = "-paper: the paper's design, APPNP without consistency. L: most propagation steps."
    console.out.print(console.paragraph(f"{told} {notes}"))


@app.command("show")
def show(name: Annotated[str, typer.Argument(help="A recipe's name or file.")]) -> None:
    """Show a recipe with every setting spelled out, as TOML.

    [bold]Examples[/bold]

      ppro recipes show cora-l2b

      ppro recipes show cora-l2b > mine.toml && ppro train cora --recipe mine.toml
    """
    from ppro.settings.recipe import recipe_toml
    from ppro.settings.recipes import find_recipe

    print(recipe_toml(find_recipe(name)), end="")
