"""What each round of the choice of recipes came to, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.paper import fresh
from ppro.paper.choice import ROUNDS, proposals
from ppro.paper.rounds import Round, names, parts_of
from ppro.paper.shipped import names as shipped_names
from ppro.paper.statistics import mean_and_spread
from ppro.paper.store import Store
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings

TITLE = "What each round proposed, on fresh seeds"
_TEXT = (
    "The searches, [the last round](#the-last-round-of-the-search-for-recipes) and [the "
    "play-off](#the-play-off) each propose their best settings. All of them train on the same "
    "fresh seeds, and the one that validates best there is the recipe (bold); so nothing that a "
    "round's own seeds flattered stays. Validation / test accuracy in percent, means over the "
    "runs. Other settings were recipes once, or were proposed by rounds as they were."
)
_HEAD = "graph|strategy|runs|searches|last round|play-off|other settings"


def round_markdown(round_: Round, store: Store) -> str:
    """Return a table of what the first of the candidates and the winner reached."""
    rows = [row for name in names() if (row := _round_row(round_, name, store))]
    if not rows:
        return f"## {round_.title}\n\nNot run yet: run `ppro reproduce {round_.key}`.\n"
    text = (
        f"{round_.who}, on seeds from {round_.first_seed} on, and on splits of their own where "
        "splits are random. Validation accuracy in percent, mean ± standard deviation; the best "
        "mean wins, once the backbone alone and both strategies have had the round. No test label "
        "is read."
    )
    head = f"graph|split|strategy|candidates|runs|{round_.first}|winner|it is".split("|")
    return f"## {round_.title}\n\n{text}\n\n{markdown_table(head, rows)}\n"


def _round_row(round_: Round, name: str, store: Store) -> list[str]:
    wanted = round_.experiment(name, store)
    record = wanted.record(store)
    if record is None:
        return []
    tried = record["results"][: len(wanted.candidates)]
    first, best = tried[0], max(tried, key=lambda one: one["val_mean"])
    dataset, strategy = parts_of(name)
    return [
        dataset_info(dataset).title,
        record["split"],
        strategy,
        str(len(tried)),
        str(record["runs"]),
        mean_and_spread(first, "val"),
        mean_and_spread(best, "val"),
        "the first" if best is first else _told(first, best),
    ]


def _told(first: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return what one setting differs from the first, else where the settings come from."""
    own, other = (Settings.read(one["settings"]).flat() for one in (best, first))
    changed = [f"{key} {value}" for key, value in own.items() if value != other.get(key)]
    return changed[0] if len(changed) == 1 else str(best["method"])


def markdown(store: Store) -> str:
    """Return what the settings that each round proposed reach."""
    rows = [row for name in shipped_names() if (row := _row(name, store))]
    if not rows:
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce shipped`.\n"
    return f"## {TITLE}\n\n{_TEXT}\n\n{markdown_table(_HEAD.split('|'), rows)}\n"


def _row(name: str, store: Store) -> list[str]:
    recipe = shipped_recipe(name)
    found = proposals(recipe.dataset, recipe.settings.strategy, store)
    records = fresh.all_of(name, store)
    runs = max((record["runs"] for record in records), default=0)
    if not found or not runs:
        return []
    cells, told = list[str](), list[dict[str, Any]]()
    for key in ROUNDS:
        settings = found[key].candidate.settings if key in found else None
        record = None if settings is None else fresh.measured(name, settings, store)
        told += [] if record is None else [record]
        cells.append("–" if record is None else _pair(record, runs, settings == recipe.settings))
    others = [_pair(record, runs, False) for record in records if record not in told]
    title = dataset_info(recipe.dataset).title
    return [title, recipe.settings.strategy, str(runs), *cells, ", ".join(others) or "–"]


def _pair(record: dict[str, Any], runs: int, bold: bool) -> str:
    text = f"{record['val_mean']:.2f} / {record['test_mean']:.2f}"
    text += f" ({record['runs']} runs)" if record["runs"] != runs else ""
    return f"**{text}**" if bold else text
