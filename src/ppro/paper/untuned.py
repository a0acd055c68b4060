"""What a user gets who sets nothing, beside plain networks that an expert would tune."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from ppro.data import dataset_info, kind_of, make_splits
from ppro.data.names import RANDOM
from ppro.paper.entrants import Arena, Entrant, Entry
from ppro.paper.experiment import Plan, Work, graph_of, size_of
from ppro.paper.fresh import FIRST_SEED
from ppro.paper.kept import spread
from ppro.paper.personal import SIX
from ppro.paper.recorded import json_settings
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.search.auto import EDITION
from ppro.search.auto_final import fit_until, search_and_plan
from ppro.search.choice import plain_settings
from ppro.search.methods import find_method
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.threads import use_threads
from ppro.training.versions import versions

CORES = 2
QUICK_BUDGET = 3
"""Seconds of a search where a plan has none."""
SPLITS = 5
"""Splits on which the default is tried, each with a search of its own."""
CONFIGURATIONS, CHOOSING = 16, 3
"""What every tuned network is offered, and the runs of each that choose."""
GENERATED = ("digits", "planted")
NETWORKS = {
    "mlp": "MLP",
    "gcn": "GCN",
    "sage": "SAGE",
    "gat": "GAT",
    "appnp": "APPNP",
    "gcnii": "GCNII",
    "res-gcn": "residual GCN",
    "res-sage": "residual SAGE",
}
"""Plain networks: they have no controllers."""
_TUNED = ("l2b", "l2u", "res-sage-l2b", "res-gcn-l2u")
OF_EACH = CONFIGURATIONS // len(_TUNED)
_SAGE: Mapping[str, Any] = {"norm": "none", "linear_first": False, "max_steps": 1}
"""The original of two layers, of the residual one."""


@dataclass(frozen=True)
class Way:
    """A way to use PPro that sets nothing.

    Args:
        seconds: of search and training; 0 for the recipe "plain", which has no search.
        device: where it trains: "cpu" is so many cores of one, "cuda" whatever GPU there is.
    """

    seconds: int = 0
    device: str = "cpu"

    @property
    def key(self) -> str:
        """Return its name in places, and for ``--only``."""
        if not self.seconds:
            return "plain"
        return f"default-{self.seconds}" + ("" if self.device == "cpu" else "-gpu")

    @property
    def title(self) -> str:
        """Return what tables call it."""
        return f"{self.seconds} s" + ("" if self.device == "cpu" else ", GPU")

    def is_on(self, device: str) -> bool:
        """Tell whether it can be tried on a device: a CPU is everywhere."""
        return self.device == "cpu" or device.startswith(self.device)


PLAIN = Way()
DEFAULTS = (Way(60), Way(180), Way(60, "cuda"))
"""The default with little time, with more, and with a GPU."""
WAYS = (PLAIN, *DEFAULTS)


@cache
def arenas() -> tuple[Arena, ...]:
    """Return all graphs, the paper's first: with their own masks, or else random ones."""
    return tuple(_arena(name) for name in (*EIGHT, *SIX, *GENERATED))


def _arena(name: str) -> Arena:
    info = dataset_info(name)
    split = RANDOM if RANDOM in info.splits else info.splits[0]
    return Arena(f"untuned/{name}", info.title, name, split, choosing=CHOOSING, more=1)


@cache
def network(dataset: str, name: str) -> Entrant:
    """Return a plain network with what its space offers."""
    method = find_method("res-sage" if name == "sage" else name)
    drawn = method.candidates(kind_of(dataset), 2 * CONFIGURATIONS)
    return _entrant(name, NETWORKS[name], dataset, [drawn], _SAGE if name == "sage" else {})


@cache
def tuned(dataset: str) -> Entrant:
    """Return PPro with as many configurations, taught by comparing steps.

    Both strategies are on APPNP and on the two residual networks.
    """
    drawn = [find_method(name).candidates(kind_of(dataset), OF_EACH) for name in _TUNED]
    return _entrant("ppro", "PPro, tuned", dataset, drawn, {"teaching": "compare"})


def _entrant(
    key: str,
    title: str,
    dataset: str,
    drawn: Sequence[Sequence[Settings]],
    changes: Mapping[str, Any],
) -> Entrant:
    """Return a method with what is drawn for it, every second time on rows of one length.

    Rows that sum to one are tiny where they have many entries; an expert would notice.
    """
    usual = {"metric": dataset_info(dataset).metric, **changes}
    offered = [
        settings.replace(**usual, **({"feature_norm": "unit"} if i % 2 else {}))
        for part in drawn
        for i, settings in enumerate(part)
    ]
    distinct = {repr(settings.flat()): settings for settings in offered}
    return Entrant(key, title, tuple(distinct.values())[:CONFIGURATIONS])


@dataclass(frozen=True)
class Untuned(Work):
    """One use of the default on one split, or of the recipe "plain".

    Args:
        row: which of the splits.
    """

    row: int = 0
    way: Way = PLAIN
    options: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Return the way that is tried."""
        return self.way.key

    def is_done(self, store: Store) -> bool:
        """Tell whether it was tried with the search as it is now."""
        record = store.read(self.place)
        return record is not None and not self.is_dated(record)

    def is_dated(self, record: Mapping[str, Any]) -> bool:
        """Tell whether a record is of an earlier search."""
        return bool(self.way.seconds) and record.get("edition", 1) != EDITION

    def run(self, plan: Plan) -> str:
        """Train and keep what came out; return a line that says so."""
        graph = graph_of(
            self.dataset, plan.data_root, plan.offline, tuple(sorted(self.options.items()))
        )
        seed, metric = FIRST_SEED + self.row, dataset_info(self.dataset).metric
        own: dict[str, Any] = {"seed": seed, "metric": metric}
        where: Any = {"data_root": plan.data_root, "offline": plan.offline}
        splits = make_splits(graph, self.dataset, self.split, 1, seed, **where)
        use_threads(CORES)
        begin, speed = time.monotonic(), {"device": torch.device(self.way.device), "threads": CORES}
        if wanted := self.way.seconds:
            seconds = wanted if plan.configurations else min(wanted, QUICK_BUDGET)
            limits: Any = {"budget": float(seconds), "start": begin, **speed}
            choice, final = search_and_plan(graph, splits, None, own, **limits)
            settings, until, chosen = choice.settings, final.until, choice.facts()
        else:
            settings, until, chosen = plain_settings(graph).replace(**own), None, None
        settings = settings.replace(**plan.changes)
        if until is None:
            result = fit(graph, splits, [settings], **speed)  # type: ignore[arg-type]
        else:
            result = fit_until(fit, until, graph, splits, [settings], **speed)
        record = {
            "dataset": self.dataset,
            "split": self.split,
            "first_seed": seed,
            "budget": self.way.seconds,
            "edition": EDITION,
            "cores": CORES,
            "device": self.way.device,
            "seconds": time.monotonic() - begin,
            "versions": versions(),
            "settings": json_settings(settings),
            "epochs": int(result.history.epochs[0]),
            "search": chosen,
            "metric": metric,
            **spread("val", (100 * result.val_score).tolist()),
            **spread("test", (100 * result.test_score).tolist()),
        }
        plan.store.write(self.place, record)
        return f"{self.place}: {record['test_mean']:.2f} in {record['seconds']:.0f} s"


def uses(arena: Arena, way: Way) -> list[Untuned]:
    """Return what tries a way on a graph, one for each split."""
    return [
        Untuned(
            f"{arena.place}/{way.key}.{row}", arena.dataset, arena.split, row, way, arena.options
        )
        for row in range(SPLITS)
    ]


def tests_of(arena: Arena, way: Way, store: Store) -> list[float] | None:
    """Return the test accuracy of every use, or None until all are made."""
    records = [store.read(use.place) for use in uses(arena, way)]
    found = [record["test_mean"] for record in records if record is not None]
    return found if len(found) == len(records) else None


def is_dated(arena: Arena, way: Way, store: Store) -> bool:
    """Tell whether any use is of an earlier search."""
    records = [(use, store.read(use.place)) for use in uses(arena, way)]
    return any(use.is_dated(record) for use, record in records if record is not None)


def experiments(plan: Plan, where: Sequence[Arena] | None = None) -> list[Work]:
    """Return what is run, the smallest graphs first, so that there is soon something to read."""
    found: list[Work] = []
    for arena in sorted(where or arenas(), key=lambda arena: size_of(arena.dataset)):
        found += [use for way in WAYS if way.is_on(plan.device) for use in uses(arena, way)]
        offered = [*(network(arena.dataset, name) for name in NETWORKS), tuned(arena.dataset)]
        found += [Entry.of(arena, entrant, plan) for entrant in offered]
    return found
