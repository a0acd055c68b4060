"""The experiment: what trains, on which seeds, what is kept of it, and when it is done.

Searches, cells of tables, runs behind figures, rounds of the choice of recipes, fresh runs and
ablations are all lists of these.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch

from ppro.data import dataset_info, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.paper.kept import kept_of
from ppro.paper.nodes import node_arrays, write_arrays
from ppro.paper.recorded import by_settings, json_settings, read_settings
from ppro.paper.store import Store
from ppro.paper.unfinished import FOLDER, Unfinished
from ppro.search.batches import Done, Job, train_all
from ppro.settings.limits import CONFIGURATIONS
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads
from ppro.training.versions import versions

QUICK = {"epochs": 50}
"""What ``--quick`` changes in every experiment but searches."""

Keep = Literal["accuracies", "curves", "nodes"]
"""Accuracies alone; the validation accuracy of every epoch too; or step and priority of nodes."""


@dataclass(frozen=True)
class Plan:
    """How experiments are made.

    Args:
        root: the folder of results.
        runs: runs of every cell.
        configurations: tried by every search; 0 for no search: the first one is taken.
        space: a space by name, instead of that of each table.
        device: where to train.
        changes: settings changed in all experiments but searches.
    """

    root: Path
    runs: int = 10
    configurations: int = CONFIGURATIONS
    device: str = "cpu"
    data_root: Path | None = None
    offline: bool = False
    threads: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    space: str | None = None

    @property
    def store(self) -> Store:
        """Return the results."""
        return Store(self.root)


@dataclass(frozen=True)
class Candidate:
    """Settings, the method whose search found them, and what they are known to reach.

    Args:
        validation: mean accuracy over the runs, in percent.
    """

    method: str
    settings: Settings
    validation: float = 0.0
    runs: int = 0


@dataclass(frozen=True)
class Work(ABC):
    """A piece of work that writes one file of results.

    Args:
        place: of its file (see :class:`Store`).
        dataset: the graph that it is about; empty where it is about none.
        split: its split, likewise.
    """

    place: str = ""
    dataset: str = ""
    split: str = ""

    @property
    def method(self) -> str:
        """Return the method that it is about, if it is about one."""
        return ""

    @property
    def steps(self) -> int | None:
        """Return the depth that it is about, if it is about one."""
        return None

    @property
    def is_ready(self) -> bool:
        """Tell whether it can begin."""
        return True

    def is_done(self, store: Store) -> bool:
        """Tell whether its file says enough."""
        return store.read(self.place) is not None

    @abstractmethod
    def run(self, plan: Plan) -> str:
        """Make the file; return a line that says what came out."""


@dataclass(frozen=True)
class Experiment(Work):
    """Settings that train side by side on a graph, and what is kept of them.

    Args:
        candidates: the settings, several where they compete; none as long as they depend on
            another experiment.
        runs: of each candidate.
        first_seed: run r has this seed + r, and the split of that seed where splits are random.
        tested: whether test accuracy is measured, once, after training. Else the test nodes are
            taken out of the splits before anything is trained.
        keep: what is kept of the runs.
        facts: what else its file says.
        options: of the graph, where it has any.
        graph_seed: of a graph that is generated, or changed by chance.
    """

    candidates: tuple[Candidate, ...] = ()
    runs: int = 0
    first_seed: int = 0
    tested: bool = True
    keep: Keep = "accuracies"
    facts: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, float | str] = field(default_factory=dict)
    graph_seed: int = 0

    @property
    def method(self) -> str:
        """Return the method that it is about, if it is about one."""
        return str(self.facts.get("method", ""))

    @property
    def steps(self) -> int | None:
        """Return the depth that it is about, if it is about one."""
        return self.facts.get("steps")

    @property
    def is_ready(self) -> bool:
        """Tell whether its settings are known."""
        return bool(self.candidates)

    @property
    def size(self) -> int:
        """Return a rough measure of its work, to begin with the largest."""
        return size_of(self.dataset) * max(
            (c.settings.network.max_steps for c in self.candidates), default=1
        )

    def is_done(self, store: Store) -> bool:
        """Tell whether its file is of the same settings and has enough runs."""
        record = store.read(self.place)
        return record is not None and record["runs"] >= self.runs and self._is_in(record)

    def record(self, store: Store) -> dict[str, Any] | None:
        """Return its file where that is of the same settings, whatever their epochs."""
        record = store.read(self.place)
        return record if record is not None and self._is_in(record, {"epochs": 1}) else None

    def _is_in(self, record: Mapping[str, Any], alike: Mapping[str, Any] | None = None) -> bool:
        """Tell whether the first results of a record are of these settings.

        Settings newer than the record are at their defaults in it.
        """
        same, wanted = alike or {}, [candidate.settings for candidate in self.candidates]
        found = [read_settings(one["settings"], same) for one in record["results"][: len(wanted)]]
        return bool(wanted) and found == [settings.replace(**same) for settings in wanted]

    def run(self, plan: Plan) -> str:
        """Train and write the file; return a line that says what came out."""
        if plan.threads is not None:
            use_threads(plan.threads)
        start, place = time.perf_counter(), {"data_root": plan.data_root, "offline": plan.offline}
        made = tuple(sorted(self.options.items())), self.graph_seed
        graph = graph_of(self.dataset, plan.data_root, plan.offline, *made)
        splits = make_splits(graph, self.dataset, self.split, self.runs, self.first_seed, **place)  # type: ignore[arg-type]
        if not self.tested:
            splits = splits.without_test()
        record = self._earlier(plan)
        earlier = by_settings(record)
        jobs = [
            Job(candidate.settings.replace(seed=self.first_seed + run), run)
            for candidate in self.candidates
            if candidate.settings not in earlier
            for run in range(self.runs)
        ]
        begun = self._unfinished(plan)
        done = train_all(graph, splits, jobs, torch.device(plan.device), kept=begun)
        if self.keep == "nodes":
            # The arrays first: a record without its arrays must never look complete.
            write_arrays(plan.store.path(self.place), node_arrays(graph, done[: self.runs]))
        of_each = iter([done[i : i + self.runs] for i in range(0, len(done), self.runs)])
        results = [
            earlier.get(candidate.settings) or self._result(next(of_each))
            for candidate in self.candidates
        ]
        seconds = record.get("seconds", 0.0) + begun.seconds + time.perf_counter() - start
        devices = [*filter(None, record.get("device", "").split(", ")), plan.device]
        made_on = ", ".join(dict.fromkeys(devices))
        plan.store.write(self.place, self._kept(results, made_on, seconds))
        begun.clear()
        return f"{self.place}: {self._told(results)}"

    def _unfinished(self, plan: Plan) -> Unfinished:
        """Return its runs that an earlier try, which was stopped, has left."""
        facts = {
            **{"dataset": self.dataset, "options": dict(self.options), "seed": self.graph_seed},
            **{"split": self.split, "first_seed": self.first_seed, "tested": self.tested},
            **{"device": plan.device, "versions": versions()},
        }
        return Unfinished(plan.root / FOLDER / self.place.replace("/", "."), facts)

    def _earlier(self, plan: Plan) -> Mapping[str, Any]:
        """Return the record of runs that competed, where other candidates have joined them since.

        They are trained once, on whatever device there was.
        """
        record = None if self.tested else plan.store.read(self.place)
        if record is None or any(record.get(k) != v for k, v in self._shared().items()):
            return {}
        return record

    def _shared(self) -> dict[str, Any]:
        """Return what all runs share beside their settings, as a record says it."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            **({"options": dict(self.options)} if self.options else {}),
            **({"graph_seed": self.graph_seed} if self.graph_seed else {}),
            "first_seed": self.first_seed,
            "runs": self.runs,
        }

    def _result(self, runs: Sequence[Done]) -> dict[str, Any]:
        """Return what is kept of the runs of a candidate."""
        return kept_of(runs, tested=self.tested, curves=self.keep == "curves")

    def _kept(
        self, results: Sequence[Mapping[str, Any]], device: str, seconds: float
    ) -> dict[str, Any]:
        """Return the record; settings that all candidates share stand in it once."""
        flat = [json_settings(candidate.settings) for candidate in self.candidates]
        shared = {k: v for k, v in flat[0].items() if all(k in f and f[k] == v for f in flat)}
        return {
            **self._shared(),
            **self.facts,
            "device": device,
            "seconds": seconds,
            "versions": versions(),
            "settings": shared,
            "results": [
                {
                    "method": candidate.method,
                    "settings": {k: v for k, v in own.items() if k not in shared},
                    **reached,
                }
                for candidate, own, reached in zip(self.candidates, flat, results, strict=True)
            ],
        }

    def _told(self, results: Sequence[Mapping[str, Any]]) -> str:
        if self.tested:
            return f"{results[0]['test_mean']:.2f} ± {results[0]['test_std']:.2f}"
        best = max(one["val_mean"] for one in results)
        return f"best validation {best:.2f} of {len(results)}"


@cache
def graph_of(
    dataset: str,
    data_root: Path | None,
    offline: bool,
    options: tuple[tuple[str, float | str], ...] = (),
    seed: int = 0,
) -> Graph:
    """Return a graph of the catalogue, read once in a process."""
    where: Any = {"data_root": data_root, "offline": offline}
    return load_graph(dataset, options=dict(options), seed=seed, **where)


def size_of(dataset: str) -> int:
    """Return nodes and edges of a graph of the catalogue, 0 where it is generated."""
    expected = dataset_info(dataset).expected
    return 0 if expected is None else expected.nodes + expected.edges
