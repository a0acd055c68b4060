"""What each round of the choice of recipes proposed, and what that reaches on fresh seeds."""

from __future__ import annotations

from typing import Any

from ppro.data import dataset_info
from ppro.paper import fresh
from ppro.paper.proposals import ROUNDS, proposals
from ppro.paper.shipped import names
from ppro.paper.store import Store
from ppro.settings.recipes import shipped_recipe

TITLE = "What each round proposed, on fresh seeds"


def markdown(store: Store) -> str:
    """What the settings that each round proposed reach."""
    rows = [row for name in names() if (row := _row(name, store))]
    if not rows:
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce shipped`.\n"
    lines = [
        f"## {TITLE}\n",
        "The searches, [the last round](#the-last-round-of-the-search-for-recipes) and [the "
        "play-off](#the-play-off) each propose their best settings. All of them train on the same "
        "fresh seeds, and the one that validates best there is the recipe (bold); so nothing that "
        "a round's own seeds flattered stays. Validation / test accuracy in percent, means over "
        "the runs. Other settings were recipes once, or were proposed by rounds as they were.\n",
        "| graph | strategy | runs | searches | last round | play-off | other settings |",
        "|---" * 7 + "|",
    ]
    return "\n".join([*lines, *rows]) + "\n"


def _row(name: str, store: Store) -> str:
    recipe = shipped_recipe(name)
    found = proposals(recipe.dataset, recipe.settings.strategy, store)
    records = fresh.all_of(name, store)
    runs = max((record["runs"] for record in records), default=0)
    if not found or not runs:
        return ""
    cells, told = list[str](), list[dict[str, Any]]()
    for key in ROUNDS:
        settings = found[key].entry.settings if key in found else None
        record = None if settings is None else fresh.measured(name, settings, store)
        told += [] if record is None else [record]
        cells.append("–" if record is None else _pair(record, runs, settings == recipe.settings))
    others = [_pair(record, runs, False) for record in records if record not in told]
    title = dataset_info(recipe.dataset).title
    places = title, recipe.settings.strategy, str(runs), *cells, ", ".join(others) or "–"
    return "| " + " | ".join(places) + " |"


def _pair(record: dict[str, Any], runs: int, bold: bool) -> str:
    text = f"{record['val_mean']:.2f} / {record['test_mean']:.2f}"
    text += f" ({record['runs']} runs)" if record["runs"] != runs else ""
    return f"**{text}**" if bold else text
