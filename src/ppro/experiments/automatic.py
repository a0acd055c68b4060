"""``--recipe auto`` beside the tuned recipes: what it chooses, and what that reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ppro.auto import BUDGET, choose
from ppro.config import Settings
from ppro.data import dataset_info
from ppro.experiments import fresh, shipped
from ppro.experiments.cells import Cell
from ppro.experiments.pool import OnDone, run_all
from ppro.experiments.store import Store
from ppro.experiments.tables import EIGHT
from ppro.experiments.tasks import Plan, graph_of, splits_of
from ppro.runfolder import versions
from ppro.threads import use_threads

CORES = 2
QUICK_BUDGET = 5.0
STRATEGY = "l2b"
TITLE = "Settings without tuning"


def path_of(dataset: str, store: Store) -> Path:
    """Where the choice for a graph, and what it reached, are kept."""
    return store.root / "auto" / f"{dataset}.json"


def missing(datasets: Sequence[str], plan: Plan) -> list[str]:
    """The graphs without a choice, or whose choice has fewer runs behind it."""
    found = {d: plan.store.read(path_of(d, plan.store)) for d in datasets}
    return [
        d
        for d, record in found.items()
        if record is None or record.get("runs", 0) < fresh.runs_on(d, plan)
    ]


def run_choices(datasets: Sequence[str], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Choose settings for each graph, on the CPU whatever the device, and train them."""
    run_all(do, datasets, plan, jobs, on_done)


def do(dataset: str, plan: Plan) -> str:
    """Choose settings unless that is done, train their runs on fresh seeds, keep both."""
    record = plan.store.read(path_of(dataset, plan.store))
    if record is None:
        record = _chosen(dataset, plan)
        plan.store.write(path_of(dataset, plan.store), record)
    reached = fresh.fresh_runs(dataset, Settings(**record["settings"]), plan)
    plan.store.write(path_of(dataset, plan.store), {**record, **reached})
    return f"auto {dataset}: {reached['test_mean']:.2f} ± {reached['test_std']:.2f}"


def _chosen(dataset: str, plan: Plan) -> dict[str, Any]:
    graph = graph_of(dataset, plan.data_root, plan.offline)
    cell = Cell(dataset, dataset_info(dataset).splits[0], STRATEGY)
    splits = splits_of(cell, graph, plan, plan.runs, 0)
    use_threads(CORES)
    budget = BUDGET if plan.configurations else QUICK_BUDGET
    choice = choose(graph, splits, STRATEGY, budget=budget, threads=CORES)
    return {
        "dataset": dataset,
        "split": splits.name,
        "budget": budget,
        "cores": CORES,
        "seconds": choice.seconds,
        "candidate": choice.trials[0].candidate.name,
        "trials": {t.candidate.name: list(t.accuracies) for t in choice.trials},
        "settings": choice.settings.model_dump(exclude_none=True),
        "versions": versions(),
    }


def markdown(store: Store) -> str:
    """The choices beside the tuned recipes."""
    found = {d: store.read(path_of(d, store)) for d in EIGHT}
    rows = {d: record for d, record in found.items() if record is not None and "test" in record}
    if not rows:
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce auto`.\n"
    lines = [
        f"## {TITLE}\n",
        f"L2B with `--recipe auto`: {BUDGET:.0f} s on {CORES} cores to choose among a few recipes "
        "by validation accuracy, then the runs, seeds and splits of the tuned recipes, as "
        "measured above. Test accuracy in percent, mean ± standard deviation.\n",
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
