"""``--recipe auto``: settings from a short search, shown and kept as a recipe file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import torch

from ppro.cli import console
from ppro.data import Splits
from ppro.errors import SettingsError
from ppro.files import whole_file
from ppro.graph.core import Graph
from ppro.search.auto import choose
from ppro.settings.recipe import Recipe, recipe_toml


def automatic(
    recipe: Recipe,
    graph: Graph,
    splits: Splits,
    given: Mapping[str, Any],
    *,
    budget: float,
    device: torch.device,
    threads: int | None,
) -> Recipe:
    """The recipe with the settings that suit the graph best.

    Args:
        recipe: what is known before the search.
        given: settings that the user has fixed; they hold in the training, not in the search.
        budget, device, threads: as for :func:`ppro.search.auto.choose`.
    """
    if recipe.settings.model != "ppro":
        raise SettingsError("--recipe auto is for PPro; leave --model out, or name a recipe")
    console.err.print(f"looking for settings for about {budget:.0f} s at most")
    choice = choose(
        graph,
        splits,
        recipe.settings.strategy,
        budget=budget,
        device=device,
        threads=threads,
        tell=lambda line: console.err.print(f"  {line}"),
    )
    found = recipe.model_copy(
        update={"settings": choice.settings.replace(**given), "note": f"auto {choice.reason}"}
    )
    kept = _keep(found)
    told = f"{choice.reason}, in {choice.seconds:.0f} s; kept as {kept}"
    console.err.print(console.paragraph(told))
    return found


def _keep(recipe: Recipe) -> Path:
    """Write a recipe beside the runs, under a name that is free."""
    folder = Path("runs")
    names = (f"{recipe.dataset}-auto{'' if i == 1 else f'-{i}'}.toml" for i in count(1))
    path = next(folder / name for name in names if not (folder / name).exists())
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        part.write_text(recipe_toml(recipe), encoding="utf-8")
    return path
