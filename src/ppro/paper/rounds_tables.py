"""What each round of the choice of recipes came to, as tables."""

from collections.abc import Mapping
from typing import Any

from ppro.data import dataset_info
from ppro.paper import choice, fresh
from ppro.paper.choice import ROUNDS, proposals
from ppro.paper.differing import MOST, SHARES, TOLERATED, pick
from ppro.paper.render import section
from ppro.paper.rounds import Round, names, parts_of
from ppro.paper.shipped import names as shipped_names
from ppro.paper.statistics import mean_and_spread
from ppro.paper.store import Store
from ppro.paper.taught import LEAST_STEPS, WAYS
from ppro.settings.recipes import PAPER_DESIGN, shipped_recipe
from ppro.settings.settings import Settings

TITLE = "What each round proposed, on fresh seeds"
_TEXT = (
    "The searches, [the last round](#the-last-round-of-the-search-for-recipes) and [the "
    "play-off](#the-play-off) each propose their best settings, and so do searches that came "
    "after them. [Runs on seeds of their own](#the-decision-between-proposals) decide which of "
    "them is the recipe (bold); before those are made, the fresh runs below do. Validation / test "
    "accuracy in percent, means over the runs. Other settings were recipes once, or were proposed "
    "by rounds as they were."
)
_HEAD = (
    "graph|strategy|runs|searches|last round|play-off|later searches|equal offers|other settings"
)


def round_markdown(round_: Round, store: Store) -> str:
    """Return a table of what the first of the candidates and the winner reached."""
    text = (
        f"{round_.who}, on seeds from {round_.first_seed} on, and on splits of their own where "
        "splits are random. Validation accuracy in percent, mean ± standard deviation; the best "
        "mean wins, once the backbone alone and both strategies have had the round. No test label "
        "is read."
    )
    head = f"graph|split|strategy|candidates|runs|{round_.first}|winner|it is"
    rows = [row for name in names() if (row := _round_row(round_, name, store))]
    return section(round_.title, text, head, rows, round_.key)


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
    best = [name for name in shipped_names() if not name.endswith(PAPER_DESIGN)]
    rows = [row for name in best if (row := _row(name, store))]
    return section(TITLE, _TEXT, _HEAD, rows, "shipped")


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


DECISION = "The decision between proposals"
_OF_DECISION = (
    "Where searches, rounds and later searches propose different settings, these train side by "
    f"side on seeds from {choice.FIRST_SEED} on, which nothing else uses, and on splits of their "
    "own where splits are random; a single proposal of a strategy trains alone. One of them (bold) "
    "makes the recipe: the best validation "
    f"accuracy of those with at least {SHARES[0]:.0%} of the nodes off the most common step (in "
    f"brackets), unless that is below the best of all by more than {TOLERATED} points and by more "
    f"than one standard error of the paired difference, or by more than {MOST:g}; or else of those "
    f"with {SHARES[1]:.0%}, by the same measure; or else the best of all. Where splits are random, "
    "that error counts what all splits of one graph share (Nadeau and Bengio, 2003). Where the "
    "nodes of that one do not differ so, it trains once more with controllers that compare steps, "
    f"in {len(WAYS)} ways and with L of at least {LEAST_STEPS}, and the best of these counts as a "
    "proposal too. Where the priorities of the one taken may all end at the cap of their form, it "
    "trains once more with priorities of mean 1, and makes way for these unless they cost more "
    "than that. What is reported of it comes from other seeds. Percent, mean ± standard deviation; "
    "no test label is read."
)
_HEAD_OF_DECISION = (
    "graph|strategy|runs|searches|last round|play-off|later searches|equal offers|taught otherwise"
)


def decision_markdown(store: Store) -> str:
    """Return what the proposals for each recipe reached on seeds of their own."""
    rows = [row for name in choice.names() if (row := _decision_row(name, store))]
    return section(DECISION, _OF_DECISION, _HEAD_OF_DECISION, rows, "decisions")


def _decision_row(name: str, store: Store) -> list[str]:
    found = choice.decided(name, store)
    if found is None:
        return []
    dataset, strategy = parts_of(name)
    proposed = proposals(dataset, strategy, store)
    results = [result for _, result in found.tried]
    settings = [candidate.settings for candidate, _ in found.tried]
    places = [
        settings.index(proposed[key].candidate.settings) if key in proposed else None
        for key in ROUNDS
    ]
    if taught := [i for i in range(len(results)) if i not in places]:
        split = dataset_info(dataset).splits[0]
        shown = taught[pick([results[i] for i in taught], split)]
        places.append(found.taken if found.taken in taught else shown)
    cells = ["–" if i is None else _decided(results[i], bold=i == found.taken) for i in places]
    cells += ["–"] * (len(ROUNDS) + 1 - len(cells))
    return [dataset_info(dataset).title, strategy, str(found.tried[0][0].runs), *cells]


def _decided(result: Mapping[str, Any], bold: bool) -> str:
    told = mean_and_spread(result, "val")
    told = f"**{told}**" if bold else told
    off = result.get("off_common")
    return f"{told} ({off:.0%})" if off else told


def _pair(record: dict[str, Any], runs: int, bold: bool) -> str:
    text = f"{record['val_mean']:.2f} / {record['test_mean']:.2f}"
    text += f" ({record['runs']} runs)" if record["runs"] != runs else ""
    return f"**{text}**" if bold else text
