"""A round of the choice of recipes: settings compete again, on seeds and splits of its own.

No round looks at a test node, and each leaves one file for every graph and strategy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.paper.batches import Job, train_all
from ppro.paper.cells import Cell
from ppro.paper.contest import STRATEGIES, Entry
from ppro.paper.pool import OnDone, run_all
from ppro.paper.search import score
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.tasks import Plan, graph_of, size_of, splits_of
from ppro.runs.versions import versions
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads


def names() -> list[str]:
    """Recipes of the paper's graphs."""
    return [f"{dataset}-{strategy}" for dataset in EIGHT for strategy in STRATEGIES]


def parts_of(name: str) -> tuple[str, str]:
    """The graph and the strategy of a recipe."""
    dataset, _, strategy = name.rpartition("-")
    return dataset, strategy


@dataclass(frozen=True)
class Round:
    """Who competes, on which seeds, and how often.

    Args:
        key: its name, and that of its folder of results.
        title: of its table.
        who: competes, in words.
        first: what the first of its candidates is, in words.
        first_seed: run r has this seed + r, and the split of that seed where splits are random.
        runs_of_public: runs of each candidate where the split is one.
        runs_of_random: runs where every run has a split of its own.
        candidates: of a recipe, the one to beat first; none as long as it cannot begin.
    """

    key: str
    title: str
    who: str
    first: str
    first_seed: int
    runs_of_public: int
    runs_of_random: int
    candidates: Callable[[str, Store], list[Entry]]

    def path_of(self, name: str, store: Store) -> Path:
        """Where the round of a recipe is kept."""
        return store.root / self.key / f"{name}.json"

    def record(self, name: str, store: Store) -> dict[str, Any] | None:
        """What came out, or None where it has not been run with the candidates of today."""
        record = store.read(self.path_of(name, store))
        if record is None:
            return None
        tried = [Settings(**one["settings"]) for one in record["tried"]]
        wanted = [entry.settings for entry in self.candidates(name, store)]
        return record if tried == wanted else None

    def ranking(self, name: str, store: Store) -> list[Entry]:
        """All that competed, the best mean validation accuracy first and the earlier of equals."""
        record = self.record(name, store)
        if record is None:
            return []
        entries = [
            Entry(
                one["method"], Settings(**one["settings"]), one["validation_mean"], record["runs"]
            )
            for one in record["tried"]
        ]
        return sorted(entries, key=lambda entry: -entry.validation)

    def winners(self, dataset: str, store: Store) -> dict[str, Entry]:
        """The best of each strategy; empty until the backbone alone and both have had the round."""
        ranked = {s: self.ranking(f"{dataset}-{s}", store) for s in STRATEGIES}
        return {s: entries[0] for s, entries in ranked.items()} if all(ranked.values()) else {}

    def missing(self, wanted: Sequence[str], plan: Plan) -> list[str]:
        """Those that can begin and have not been run; the largest graphs first.

        None where there is no search at all.
        """
        if plan.configurations == 0:
            return []
        todo = [
            name
            for name in wanted
            if self.record(name, plan.store) is None and self.candidates(name, plan.store)
        ]
        return sorted(todo, key=lambda name: size_of(parts_of(name)[0]), reverse=True)

    def run(self, wanted: Sequence[str], plan: Plan, jobs: int, on_done: OnDone) -> None:
        """Run all, one after the other or side by side; each leaves its file when it is done."""
        run_all(self.do, wanted, plan, jobs, on_done)

    def do(self, name: str, plan: Plan) -> str:
        """Train the candidates of a recipe and write the file; returns a line with the winner."""
        if plan.threads is not None:
            use_threads(plan.threads)
        start, dataset = time.perf_counter(), parts_of(name)[0]
        graph = graph_of(dataset, plan.data_root, plan.offline)
        split = dataset_info(dataset).splits[0]
        runs = self.runs_of_public if split == PUBLIC else self.runs_of_random
        splits = splits_of(Cell(dataset, split, ""), graph, plan, runs, self.first_seed)
        tried = self.candidates(name, plan.store)
        jobs = [
            Job(entry.settings.replace(seed=self.first_seed + run, **plan.changes), run)
            for entry in tried
            for run in range(runs)
        ]
        done = train_all(graph, splits.without_test(), jobs, torch.device(plan.device))
        scores = [score(done[i : i + runs]) for i in range(0, len(done), runs)]
        record: dict[str, Any] = {
            "recipe": name,
            "dataset": dataset,
            "split": split,
            "first_seed": self.first_seed,
            "runs": runs,
            "tried": [
                {
                    "method": entry.method,
                    "settings": entry.settings.model_dump(exclude_none=True),
                    **reached,
                }
                for entry, reached in zip(tried, scores, strict=True)
            ],
            "device": plan.device,
            "seconds": time.perf_counter() - start,
            "versions": versions(),
        }
        plan.store.write(self.path_of(name, plan.store), record)
        best = max(one["validation_mean"] for one in record["tried"])
        return f"{self.key} {name}: best validation {best:.2f} of {len(tried)}"

    def markdown(self, store: Store) -> str:
        """A table of what the first of the candidates and the winner reached."""
        found = {name: self.record(name, store) for name in names()}
        records = {name: record for name, record in found.items() if record is not None}
        if not records:
            return f"## {self.title}\n\nNot run yet: run `ppro reproduce {self.key}`.\n"
        lines = [
            f"## {self.title}\n",
            f"{self.who}, on seeds from {self.first_seed} on, and on splits of their own where "
            "splits are random. Validation accuracy in percent, mean ± standard deviation; the "
            "best mean wins, once the backbone alone and both strategies have had the round. No "
            "test label is read.\n",
            f"| graph | split | strategy | candidates | runs | {self.first} | winner | it is |",
            "|---" * 8 + "|",
        ]
        lines += [_line(name, record) for name, record in records.items()]
        return "\n".join(lines) + "\n"


def different(entries: Sequence[Entry], number: int, taken: Sequence[Entry]) -> list[Entry]:
    """The first that differ from each other, and from those taken, in more than patience."""
    seen, found = [_but_patience(entry) for entry in taken], list[Entry]()
    for entry in entries:
        if len(found) < number and _but_patience(entry) not in seen:
            found.append(entry)
            seen.append(_but_patience(entry))
    return found


def _but_patience(entry: Entry) -> Settings:
    return entry.settings.replace(patience=1)


def _line(name: str, record: dict[str, Any]) -> str:
    first = record["tried"][0]
    best = max(record["tried"], key=lambda tried: tried["validation_mean"])
    places = (
        dataset_info(record["dataset"]).title,
        record["split"],
        parts_of(name)[1],
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
    """What differs from the first where it is a variation of it, else where it comes from."""
    own, other = Settings(**best["settings"]), Settings(**first["settings"])
    changed = [
        f"{key} {getattr(own, key)}"
        for key in Settings.model_fields
        if getattr(own, key) != getattr(other, key)
    ]
    return changed[0] if len(changed) == 1 else str(best["method"])
