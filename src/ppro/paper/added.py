"""What the controllers add to a backbone that keeps the settings which suit it best alone.

A tuned PPro and a tuned backbone differ in many settings. Here they differ in the controllers
alone: the backbone has those of its own recipe, the controllers those of the strategy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppro.data import dataset_info
from ppro.paper import fresh, shipped
from ppro.paper.pool import OnDone, run_all
from ppro.paper.statistics import compare
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.tasks import Plan, size_of
from ppro.runs.versions import versions
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings

TITLE = "What the controllers add"
PARTS = {
    "both": {},
    "steps": {"use_weighting": False},
    "priorities": {"use_propagation": False},
}
"""Both controllers, the propagation controller alone (-nw), the weight controller alone (-np)."""


@dataclass(frozen=True)
class Added:
    """A strategy's controllers, or one of them, on the backbone's own settings."""

    dataset: str
    strategy: str
    part: str

    @property
    def settings(self) -> Settings:
        """Those of the backbone's recipe, with the controllers of the strategy's."""
        backbone = shipped_recipe(f"{self.dataset}-none").settings
        strategy = shipped_recipe(f"{self.dataset}-{self.strategy}").settings
        return backbone.with_controllers_of(strategy).replace(**PARTS[self.part])

    def path(self, store: Store) -> Path:
        """Where its runs are kept."""
        return store.root / "added" / f"{self.dataset}-{self.strategy}" / f"{self.part}.json"

    def record(self, store: Store) -> dict[str, Any] | None:
        """What it reached, or None where no result is of these settings, but for the epochs."""
        record = store.read(self.path(store))
        return record if fresh.is_of(record, self.settings.model_dump(exclude_none=True)) else None


def missing(datasets: Sequence[str], plan: Plan) -> list[Added]:
    """All without runs, or with fewer; the largest graphs first."""
    wanted = [Added(d, s, part) for s in ("l2b", "l2u") for d in datasets for part in PARTS]
    todo = [
        added
        for added in wanted
        if not fresh.is_enough(added.record(plan.store), added.dataset, added.settings, plan)
    ]
    return sorted(todo, key=lambda added: size_of(added.dataset), reverse=True)


def run(todo: Sequence[Added], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Train all, one after the other or side by side; each leaves its file when it is done."""
    run_all(do, todo, plan, jobs, on_done)


def do(added: Added, plan: Plan) -> str:
    """Train the runs and write their file; returns a line that says what came out."""
    record = fresh.fresh_runs(added.dataset, added.settings, plan)
    plan.store.write(added.path(plan.store), {**record, "versions": versions()})
    name = f"{added.dataset}-{added.strategy} {added.part}"
    return f"{name}: {record['test_mean']:.2f} ± {record['test_std']:.2f}"


def markdown(store: Store) -> str:
    """The gain of the controllers, and of each of them alone."""
    pairs = [(dataset, strategy) for dataset in EIGHT for strategy in ("l2b", "l2u")]
    rows = [row for pair in pairs if (row := _row(*pair, store))]
    if not rows:
        return f"## {TITLE}\n\nNot measured yet: run `ppro reproduce added`.\n"
    lines = [
        f"## {TITLE}\n",
        "The backbone keeps the settings of its own recipe, so these runs differ from it in the "
        "controllers alone, which have the settings of the strategy's recipe: both of them, the "
        "propagation controller alone (-nw), or the weight controller alone (-np). Seeds and "
        "splits are those of the recipes above. Test accuracy of the backbone in percent, then "
        "the paired differences from it with their standard errors; in brackets the difference in "
        "validation accuracy.\n",
        "| graph | strategy | runs | backbone | both | steps alone | priorities alone |",
        "|---" * 7 + "|",
    ]
    return "\n".join([*lines, *rows]) + "\n"


def _row(dataset: str, strategy: str, store: Store) -> str:
    base = shipped.reached(f"{dataset}-none", store)
    found = {part: Added(dataset, strategy, part).record(store) for part in PARTS}
    if base is None or not any(found.values()):
        return ""
    cells = [_difference(record, base) for record in found.values()]
    alone = f"{base['test_mean']:.1f} ± {base['test_std']:.1f}"
    places = dataset_info(dataset).title, strategy, str(base["runs"]), alone, *cells
    return "| " + " | ".join(places) + " |"


def _difference(record: dict[str, Any] | None, base: dict[str, Any]) -> str:
    if record is None or record["runs"] != base["runs"]:
        return "–"
    found = compare(record["test"], base["test"])
    validation = record["val_mean"] - base["val_mean"]
    told = f"{found.difference:+.2f} ± {found.standard_error:.2f} ({validation:+.2f})"
    return told if found.verdict == "tie" else f"{told}, {found.verdict}"
