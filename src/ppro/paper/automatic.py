"""``--recipe auto`` beside the tuned recipes: what it chooses, and what that reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ppro.data import dataset_info
from ppro.paper import fresh, shipped
from ppro.paper.cells import Cell
from ppro.paper.pool import OnDone, run_all
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.tasks import Plan, graph_of, splits_of
from ppro.runs.versions import versions
from ppro.search.auto import BUDGET, choose
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads

CORES = 2
QUICK_BUDGET = 5.0
STRATEGY = "l2b"


@dataclass(frozen=True)
class Automatic:
    """The choice on one kind of machine, which decides how much can be tried in the time.

    Args:
        key: its name, and that of its folder of results.
        title: of its table.
        machine: in words.
        on_gpu: whether the search has a GPU; the runs that follow train where the plan says.
    """

    key: str
    title: str
    machine: str
    on_gpu: bool

    def path_of(self, dataset: str, store: Store) -> Path:
        """Where the choice for a graph, and what it reached, are kept."""
        return store.root / self.key / f"{dataset}.json"

    def missing(self, datasets: Sequence[str], plan: Plan) -> list[str]:
        """The graphs without a choice, or whose choice has fewer runs behind it.

        None where the machine is not of this kind and there is no choice yet.
        """
        found = {d: plan.store.read(self.path_of(d, plan.store)) for d in datasets}
        can_choose = not self.on_gpu or torch.device(plan.device).type == "cuda"
        return [
            d
            for d, record in found.items()
            if (can_choose and record is None)
            or (record is not None and record.get("runs", 0) < fresh.runs_on(d, plan))
        ]

    def run(self, datasets: Sequence[str], plan: Plan, jobs: int, on_done: OnDone) -> None:
        """Choose settings for each graph and train them; each leaves its file when it is done."""
        run_all(self.do, datasets, plan, jobs, on_done)

    def do(self, dataset: str, plan: Plan) -> str:
        """Choose settings unless that is done, train their runs on fresh seeds, keep both."""
        path = self.path_of(dataset, plan.store)
        record = plan.store.read(path)
        if record is None:
            record = self._chosen(dataset, plan)
            plan.store.write(path, record)
        reached = fresh.fresh_runs(dataset, Settings(**record["settings"]), plan)
        plan.store.write(path, {**record, **reached})
        return f"{self.key} {dataset}: {reached['test_mean']:.2f} ± {reached['test_std']:.2f}"

    def _chosen(self, dataset: str, plan: Plan) -> dict[str, Any]:
        graph = graph_of(dataset, plan.data_root, plan.offline)
        cell = Cell(dataset, dataset_info(dataset).splits[0], STRATEGY)
        splits = splits_of(cell, graph, plan, plan.runs, 0)
        use_threads(CORES)
        budget = BUDGET if plan.configurations else QUICK_BUDGET
        device = torch.device(plan.device if self.on_gpu else "cpu")
        choice = choose(graph, splits, STRATEGY, budget=budget, device=device, threads=CORES)
        return {
            "dataset": dataset,
            "split": splits.name,
            "budget": budget,
            "cores": CORES,
            "chosen_on": device.type,
            "seconds": choice.seconds,
            "candidate": choice.trials[0].candidate.name,
            "trials": {t.candidate.name: list(t.accuracies) for t in choice.trials},
            "settings": choice.settings.model_dump(exclude_none=True),
            "versions": versions(),
        }

    def markdown(self, store: Store) -> str:
        """The choices beside the tuned recipes."""
        found = {d: store.read(self.path_of(d, store)) for d in EIGHT}
        rows = {d: record for d, record in found.items() if record is not None and "test" in record}
        if not rows:
            command = f"`ppro reproduce {self.key}`"
            return f"## {self.title}\n\nNot measured yet: run {command} on {self.machine}.\n"
        lines = [
            f"## {self.title}\n",
            f"L2B with `--recipe auto`: {BUDGET:.0f} s on {self.machine} to choose among a few "
            "recipes by validation accuracy, then the runs, seeds and splits of the tuned recipes, "
            "as measured above. Test accuracy in percent, mean ± standard deviation.\n",
            "| graph | chosen | s | auto | tuned | difference |",
            "|---" * 6 + "|",
        ]
        differences = []
        for dataset, record in rows.items():
            tuned = shipped.reached(f"{dataset}-{STRATEGY}", store)
            if tuned is not None and tuned["runs"] != record["runs"]:
                tuned = None
            difference = None if tuned is None else record["test_mean"] - tuned["test_mean"]
            if difference is not None:
                differences.append(difference)
            lines.append(_line(dataset, record, tuned, difference))
        if differences:
            mean = sum(differences) / len(differences)
            lines.append(f"\nMean difference: {mean:+.2f}, least: {min(differences):+.2f}.")
        return "\n".join(lines) + "\n"


ON_CPU = Automatic("auto", "Settings without tuning", f"{CORES} cores", on_gpu=False)
ON_GPU = Automatic("auto-gpu", "Settings without tuning, on a GPU", "a GPU", on_gpu=True)


def _line(
    dataset: str, record: dict[str, Any], tuned: dict[str, Any] | None, difference: float | None
) -> str:
    places = (
        dataset_info(dataset).title,
        record["candidate"],
        f"{record['seconds']:.0f}",
        _accuracy(record),
        "–" if tuned is None else _accuracy(tuned),
        "–" if difference is None else f"{difference:+.2f}",
    )
    return "| " + " | ".join(places) + " |"


def _accuracy(record: dict[str, Any]) -> str:
    return f"{record['test_mean']:.1f} ± {record['test_std']:.1f}"
