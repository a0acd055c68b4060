"""``--recipe auto`` beside the tuned recipes: what it chooses, and what that reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from ppro.data import dataset_info, make_splits
from ppro.paper import fresh
from ppro.paper.experiment import Experiment, Plan, Work, graph_of, json_settings
from ppro.paper.render import section
from ppro.paper.statistics import mean_and_spread
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.search.auto import choose
from ppro.search.auto_candidates import CANDIDATES
from ppro.settings.limits import TABLE_BUDGET as BUDGET
from ppro.settings.settings import Settings
from ppro.training.threads import use_threads
from ppro.training.versions import versions

CORES = 2
QUICK_BUDGET = 5.0
STRATEGY = "l2b"
_EARLIER = (
    " **Of an earlier search**, which chose among other candidates than the one of today; `ppro "
    "reproduce untuned` measures that one."
)
_HEAD = "graph|chosen|s|auto|tuned|difference"


@dataclass(frozen=True)
class AutoChoice(Work):
    """The choice of settings for a graph, before they are trained."""

    on_gpu: bool = False

    def run(self, plan: Plan) -> str:
        """Choose settings and keep them; return a line that says which."""
        graph = graph_of(self.dataset, plan.data_root, plan.offline)
        where: Any = {"data_root": plan.data_root, "offline": plan.offline}
        splits = make_splits(graph, self.dataset, self.split, plan.runs, 0, **where)
        use_threads(CORES)
        budget = BUDGET if plan.configurations else QUICK_BUDGET
        device = torch.device(plan.device if self.on_gpu else "cpu")
        choice = choose(graph, splits, STRATEGY, budget=budget, device=device, threads=CORES)
        record = {
            "dataset": self.dataset,
            "split": splits.name,
            "budget": budget,
            "cores": CORES,
            "chosen_on": device.type,
            "seconds": choice.seconds,
            "versions": versions(),
            "candidate": choice.trials[0].candidate.name,
            "settings": json_settings(choice.settings),
            "trials": {t.candidate.name: list(t.accuracies) for t in choice.trials},
        }
        plan.store.write(self.place, record)
        return f"{self.place}: {record['candidate']}"


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

    def experiments(
        self, plan: Plan, datasets: Sequence[str] = EIGHT
    ) -> list[AutoChoice | Experiment]:
        """Return the choices and their fresh runs.

        Where the machine is not of this kind, only what was chosen before is run.
        """
        can_choose = not self.on_gpu or torch.device(plan.device).type == "cuda"
        choices = [self.choice(dataset) for dataset in datasets]
        runs = [self.runs(dataset, plan) for dataset in datasets]
        return [*choices, *runs] if can_choose else [one for one in runs if one.is_ready]

    def choice(self, dataset: str) -> AutoChoice:
        """Return the choice for a graph."""
        split = dataset_info(dataset).splits[0]
        return AutoChoice(f"{self.key}/{dataset}.choice", dataset, split, self.on_gpu)

    def runs(self, dataset: str, plan: Plan) -> Experiment:
        """Return the fresh runs of the settings that were chosen."""
        chosen = plan.store.read(self.choice(dataset).place)
        settings = None if chosen is None else Settings.read(chosen["settings"])
        return fresh.fresh_experiment(f"{self.key}/{dataset}", dataset, settings, plan)

    def markdown(self, store: Store) -> str:
        """Return the choices beside the tuned recipes."""
        rows, differences, earlier = list[list[str]](), list[float](), False
        for dataset in EIGHT:
            chosen = store.read(self.choice(dataset).place)
            record = store.one(f"{self.key}/{dataset}")
            if chosen is None or record is None:
                continue
            earlier |= chosen["candidate"] not in _names()
            tuned = fresh.reached(f"{dataset}-{STRATEGY}", store)
            same = tuned is not None and tuned["runs"] == record["runs"]
            rows.append(_row(dataset, chosen, record, tuned if same else None))
            if tuned is not None and same:
                differences.append(record["test_mean"] - tuned["test_mean"])
        text = (
            f"L2B with `--recipe auto`: {BUDGET:.0f} s on {self.machine} to choose among a few "
            "recipes by validation accuracy, then the runs, seeds and splits of the tuned recipes, "
            "as measured above. Test accuracy in percent, mean ± standard deviation."
        )
        told = section(self.title, text + (_EARLIER if earlier else ""), _HEAD, rows, self.key)
        if differences:
            mean = sum(differences) / len(differences)
            told += f"\nMean difference: {mean:+.2f}, least: {min(differences):+.2f}.\n"
        return told


ON_CPU = Automatic("auto", "Settings without tuning", f"{CORES} cores", on_gpu=False)
ON_GPU = Automatic("auto-gpu", "Settings without tuning, on a GPU", "a GPU", on_gpu=True)


@cache
def _names() -> set[str]:
    """Return the names of all that the search of today can choose under the strategy."""
    controlled = [c for base in CANDIDATES for c in base.controlled() if c.strategy == STRATEGY]
    return {one.name for c in controlled for one in (c, *c.variations({}))}


def _row(
    dataset: str, chosen: dict[str, Any], record: dict[str, Any], tuned: dict[str, Any] | None
) -> list[str]:
    beside = ["–", "–"]
    if tuned is not None:
        beside = [mean_and_spread(tuned), f"{record['test_mean'] - tuned['test_mean']:+.2f}"]
    seconds, title = f"{chosen['seconds']:.0f}", dataset_info(dataset).title
    return [title, chosen["candidate"], seconds, mean_and_spread(record), *beside]
