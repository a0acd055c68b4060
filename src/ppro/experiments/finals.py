"""The last round of the search for recipes: the best settings again, on more seeds, and near ones.

A search has few runs of each configuration, so the best of many is partly luck. Here the settings
that did best in their ten runs, others that did well in the searches, and variations of the first
train side by side on seeds and splits of their own. Test nodes are not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ppro.config import Settings
from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.experiments.batches import Job, train_all
from ppro.experiments.cells import Cell
from ppro.experiments.contest import Contest, Entry, contest
from ppro.experiments.pool import OnDone, run_all
from ppro.experiments.search import score
from ppro.experiments.store import Store
from ppro.experiments.tables import EIGHT
from ppro.experiments.tasks import Plan, graph_of, size_of, splits_of
from ppro.experiments.variations import variations
from ppro.runfolder import versions
from ppro.threads import use_threads

FIRST_SEED = 3000
"""Seeds of this round begin here; tables have 0, searches 1000, fresh runs of recipes 2000."""
FINALISTS, OTHERS, VARIATIONS = 4, 4, 6
"""Settings that had ten runs, others of the searches, and variations of the first."""
RUNS_OF_ONE_SPLIT, RUNS_OF_RANDOM_SPLITS = 6, 20
PATIENCE = 200
"""Of those that are new; settings that differ in it alone do not compete with each other."""
STRATEGIES = ("none", "l2b", "l2u")
TITLE = "The last round of the search for recipes"


def names() -> list[str]:
    """Recipes of the paper's graphs."""
    return [f"{dataset}-{strategy}" for dataset in EIGHT for strategy in STRATEGIES]


def path_of(name: str, store: Store) -> Path:
    """Where the round of a recipe is kept."""
    return store.root / "finals" / f"{name}.json"


def candidates(searched: Contest) -> list[Entry]:
    """What competes; accuracies as they were known before."""
    chosen = _different(searched.entries, FINALISTS, [])
    if not chosen:
        return []
    first = chosen[0]
    near = [
        Entry(f"{first.method}, varied", settings, first.validation, 0)
        for settings in variations(first.settings, VARIATIONS)
    ]
    patient = [replace(e, settings=e.settings.replace(patience=PATIENCE)) for e in searched.others]
    others = _different(patient, OTHERS + FINALISTS - len(chosen), [*chosen, *near])
    return [*chosen, *others, *near]


def _different(entries: Sequence[Entry], number: int, taken: Sequence[Entry]) -> list[Entry]:
    """The first that differ from each other, and from those taken, in more than patience."""
    seen, found = [_but_patience(entry) for entry in taken], list[Entry]()
    for entry in entries:
        if len(found) < number and _but_patience(entry) not in seen:
            found.append(entry)
            seen.append(_but_patience(entry))
    return found


def _but_patience(entry: Entry) -> Settings:
    return entry.settings.replace(patience=1)


def winner(name: str, store: Store) -> Entry | None:
    """The settings with the best mean validation accuracy, the first of equals.

    Returns:
        None where the round has not been run, or only with other candidates than there are now.
    """
    record = store.read(path_of(name, store))
    if record is None or not _is_of(record, candidates(_contest(name, store))):
        return None
    best = max(record["tried"], key=lambda tried: tried["validation_mean"])
    settings = Settings(**best["settings"])
    return Entry(best["method"], settings, best["validation_mean"], record["runs"])


def _is_of(record: dict[str, Any], wanted: Sequence[Entry]) -> bool:
    tried = [Settings(**one["settings"]) for one in record["tried"]]
    return tried == [entry.settings for entry in wanted]


def _contest(name: str, store: Store) -> Contest:
    dataset, strategy = name.rsplit("-", 1)
    return contest(dataset, strategy, store)


def missing(wanted: Sequence[str], plan: Plan) -> list[str]:
    """Those that have candidates and no winner yet; the largest graphs first.

    None where there is no search at all.
    """
    if plan.configurations == 0:
        return []
    todo = [
        name
        for name in wanted
        if winner(name, plan.store) is None and _contest(name, plan.store).entries
    ]
    return sorted(todo, key=lambda name: size_of(name.rsplit("-", 1)[0]), reverse=True)


def run_finals(wanted: Sequence[str], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Run all, one after the other or side by side; each leaves its file when it is done."""
    run_all(do, wanted, plan, jobs, on_done)


def do(name: str, plan: Plan) -> str:
    """Train the candidates of a recipe and write the file; returns a line with the winner."""
    if plan.threads is not None:
        use_threads(plan.threads)
    start, dataset = time.perf_counter(), name.rsplit("-", 1)[0]
    split = dataset_info(dataset).splits[0]
    runs = RUNS_OF_ONE_SPLIT if split == PUBLIC else RUNS_OF_RANDOM_SPLITS
    graph = graph_of(dataset, plan.data_root, plan.offline)
    splits = splits_of(Cell(dataset, split, ""), graph, plan, runs, FIRST_SEED).without_test()
    tried = candidates(_contest(name, plan.store))
    jobs = [
        Job(entry.settings.replace(seed=FIRST_SEED + run, **plan.changes), run)
        for entry in tried
        for run in range(runs)
    ]
    done = train_all(graph, splits, jobs, torch.device(plan.device))
    record: dict[str, Any] = {
        "recipe": name,
        "dataset": dataset,
        "split": split,
        "first_seed": FIRST_SEED,
        "runs": runs,
        "tried": [
            {
                "method": entry.method,
                "settings": entry.settings.model_dump(exclude_none=True),
                **score(done[i * runs : (i + 1) * runs]),
            }
            for i, entry in enumerate(tried)
        ],
        "device": plan.device,
        "seconds": time.perf_counter() - start,
        "versions": versions(),
    }
    plan.store.write(path_of(name, plan.store), record)
    best = max(one["validation_mean"] for one in record["tried"])
    return f"finals {name}: best validation {best:.2f} of {len(tried)}"


def markdown(store: Store) -> str:
    """What the first of the searches and the winner reached."""
    found = {name: store.read(path_of(name, store)) for name in names()}
    records = {n: r for n, r in found.items() if r is not None and winner(n, store) is not None}
    if not records:
        return f"## {TITLE}\n\nNot run yet: run `ppro reproduce finals`.\n"
    lines = [
        f"## {TITLE}\n",
        f"The best {FINALISTS} settings of all searches by their ten runs, {OTHERS} others that "
        f"did well in the searches and {VARIATIONS} variations of the first, on seeds from "
        f"{FIRST_SEED} on, and on splits of their own where splits are random. Validation "
        "accuracy in percent, mean ± standard deviation; the best mean becomes the recipe, once "
        "the backbone alone and both strategies have had the round. No test label is read.\n",
        "| graph | split | strategy | candidates | runs | first of the searches | winner | it is |",
        "|---" * 8 + "|",
    ]
    lines += [_line(name, record) for name, record in records.items()]
    return "\n".join(lines) + "\n"


def _line(name: str, record: dict[str, Any]) -> str:
    first = record["tried"][0]
    best = max(record["tried"], key=lambda tried: tried["validation_mean"])
    places = (
        dataset_info(record["dataset"]).title,
        record["split"],
        name.rsplit("-", 1)[1],
        str(len(record["tried"])),
        str(record["runs"]),
        _accuracy(first),
        _accuracy(best),
        "the first" if best is first else _told(first, best),
    )
    return "| " + " | ".join(places) + " |"


def _accuracy(tried: Mapping[str, Any]) -> str:
    return f"{tried['validation_mean']:.1f} ± {tried['validation_std']:.1f}"


def _told(first: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """What differs from the first where it is a variation of it, else whose search found it."""
    if not best["method"].endswith("varied"):
        return str(best["method"])
    own, other = Settings(**best["settings"]), Settings(**first["settings"])
    return ", ".join(
        f"{key} {getattr(own, key)}"
        for key in Settings.model_fields
        if getattr(own, key) != getattr(other, key)
    )
