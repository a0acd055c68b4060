"""Methods that meet on one graph: each is offered settings, chosen and then measured.

The best mean validation accuracy chooses among what a method is offered, on seeds and splits of
their own and without a test node; what was chosen then runs on fresh seeds and splits, the same for
all methods, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ppro.data.names import PUBLIC
from ppro.paper import differing
from ppro.paper.differing import ranked
from ppro.paper.experiment import Candidate, Experiment, Plan, Work
from ppro.paper.fresh import FIRST_SEED
from ppro.paper.statistics import Comparison, compare
from ppro.paper.store import Store
from ppro.search.methods import method_of
from ppro.settings.limits import SEARCH_SEED
from ppro.settings.settings import Settings

CHOOSING, CHOOSING_SMALL, CHOOSING_LARGE = 5, 20, 3
"""Runs of each candidate that choose; the fewer nodes validate, the more runs it takes."""
FINAL_SEED = 7000
"""Seeds of the runs that decide among finalists begin here."""
MORE = 2
"""Times the runs of a plan that measure where splits are random."""
DEPTHS = (0, 1, 2, 4, 8)
"""The fixed depths that personal steps must beat."""
STEPS = 8
"""L of the strategies, which nothing tunes."""
EPOCHS = {"epochs": 300, "patience": 150}
"""Enough for a warm-up and for what follows it; the same for all methods."""
COMPARING: Mapping[str, Any] = {
    **{"max_steps": STEPS, "teaching": "compare", "judges": "folds"},
    **{"lr_controller": 0.01, "lambda1": 2.0, "controller_units": 32},
}
"""Controllers that compare steps, judged by backbones that have not seen the node."""
TOGETHER = 1e6
"""κ so high that no node leaves the common depth."""
STARTS: tuple[Mapping[str, Any], ...] = (
    *({"start": start} for start in ("explore", "held", "first")),
    {"start": "first", "kappa": TOGETHER},
)
"""Of comparing controllers; "first" is for graphs whose steps spoil each other, and the last keeps
all nodes together, so that priorities alone are personal."""


@dataclass(frozen=True)
class Arena:
    """A graph with its split, where methods meet.

    Args:
        place: of its folder of results.
        title: what tables call it.
        options: of the graph.
        graph_seed: of a graph that is generated, or changed by chance.
        choosing: runs of each candidate that choose.
        finalists: how many of the best train once more, on other seeds and splits, before one of
            them is chosen; 0 where the first runs decide.
        deciding: runs of each finalist.
        more: times the runs of a plan that measure where splits are random.
        personal: whether nodes should differ in their steps where that costs little (see
            :mod:`ppro.paper.differing`).
    """

    place: str
    title: str
    dataset: str
    split: str
    options: Mapping[str, float | str] = field(default_factory=dict)
    graph_seed: int = 0
    choosing: int = CHOOSING
    finalists: int = 0
    deciding: int = 10
    more: int = MORE
    personal: bool = False

    def runs(self, plan: Plan) -> int:
        """Return how many runs measure a method."""
        return plan.runs * (1 if self.split == PUBLIC else self.more)


@dataclass(frozen=True)
class Entrant:
    """A method and the settings that it is offered, of which validation takes one.

    Args:
        key: its name below the arena's folder.
        title: what tables call it.
    """

    key: str
    title: str
    offered: tuple[Settings, ...]


def start_of(settings: Mapping[str, Any]) -> str:
    """Return what tables call the start of a strategy with these settings."""
    if settings.get("kappa") == TOGETHER:
        return "together"
    return str(settings.get("start", "explore"))


def grid(**choices: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return every combination of the choices of some settings."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


def offered(
    shared: Mapping[str, Any], *choices: Sequence[Mapping[str, Any]]
) -> tuple[Settings, ...]:
    """Return settings for every combination of what is chosen, on top of what all share."""
    found = []
    for chosen in product(*choices):
        values = dict(shared)
        for part in chosen:
            values |= part
        found.append(Settings.read({**EPOCHS, **values}))
    return tuple(found)


def choosing(arena: Arena, entrant: Entrant) -> Experiment:
    """Return the runs that choose among what a method is offered; they have no test nodes."""
    method = method_of(entrant.offered[0]).name
    candidates = tuple(Candidate(method, settings) for settings in entrant.offered)
    return _untested(arena, entrant, "choice", candidates, arena.choosing, SEARCH_SEED)


def deciding(arena: Arena, entrant: Entrant, store: Store) -> Experiment | None:
    """Return the runs that decide among the finalists, or None before there are any."""
    search = choosing(arena, entrant)
    results = _results(search, store)
    if not results:
        return None
    best = differing.finalists(results, arena.finalists) if arena.personal else ranked(results)
    finalists = tuple(search.candidates[i] for i in best[: arena.finalists])
    return _untested(arena, entrant, "final", finalists, arena.deciding, FINAL_SEED)


def _untested(
    arena: Arena,
    entrant: Entrant,
    stage: str,
    candidates: tuple[Candidate, ...],
    runs: int,
    seed: int,
) -> Experiment:
    method = method_of(entrant.offered[0]).name
    return Experiment(
        f"{arena.place}/{entrant.key}.{stage}",
        arena.dataset,
        arena.split,
        candidates,
        runs,
        seed,
        tested=False,
        facts={"method": method, "configurations": len(entrant.offered)},
        options=arena.options,
        graph_seed=arena.graph_seed,
    )


def measuring(
    arena: Arena, entrant: Entrant, plan: Plan, kind: type[Experiment] = Experiment
) -> Experiment:
    """Return the runs of what was chosen; where a plan has no search, of the first settings.

    Args:
        kind: of the experiment, which says what is kept of the runs.
    """
    method = method_of(entrant.offered[0]).name
    if plan.configurations == 0:
        chosen: Candidate | None = Candidate(method, entrant.offered[0].replace(**plan.changes))
    else:
        chosen = _chosen(arena, entrant, plan)
    return kind(
        f"{arena.place}/{entrant.key}",
        arena.dataset,
        arena.split,
        () if chosen is None else (chosen,),
        arena.runs(plan),
        FIRST_SEED,
        facts={"method": method, "configurations": len(entrant.offered)},
        options=arena.options,
        graph_seed=arena.graph_seed,
    )


def _chosen(arena: Arena, entrant: Entrant, plan: Plan) -> Candidate | None:
    """Return the settings that the last runs without test nodes decide for."""
    last = deciding(arena, entrant, plan.store) if arena.finalists else choosing(arena, entrant)
    results = [] if last is None else _results(last, plan.store)
    return last.candidates[_best(arena, results)] if last is not None and results else None


def _best(arena: Arena, results: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the best mean validation accuracy, the first of equals."""
    return differing.pick(results) if arena.personal else ranked(results)[0]


def _results(search: Experiment, store: Store) -> list[Mapping[str, Any]]:
    """Return what the candidates reached, in their order; nothing before they ran."""
    record = store.read(search.place)
    return [] if record is None or not search.is_done(store) else list(record["results"])


@dataclass(frozen=True)
class Entry(Work):
    """A method in an arena: settings are chosen, then measured; finished parts are not run again.

    Args:
        plan: which says how many runs there are.
        kind: of the runs that measure.
    """

    arena: Arena = field(kw_only=True)
    entrant: Entrant = field(kw_only=True)
    plan: Plan = field(kw_only=True)
    kind: type[Experiment] = field(default=Experiment, kw_only=True)

    @classmethod
    def of(
        cls, arena: Arena, entrant: Entrant, plan: Plan, kind: type[Experiment] = Experiment
    ) -> Entry:
        """Return the entry of a method."""
        where = f"{arena.place}/{entrant.key}", arena.dataset, arena.split
        return cls(*where, arena=arena, entrant=entrant, plan=plan, kind=kind)

    @property
    def method(self) -> str:
        """Return the method that it is about."""
        return method_of(self.entrant.offered[0]).name

    def is_done(self, store: Store) -> bool:
        """Tell whether the settings that were chosen have their runs."""
        runs = measuring(self.arena, self.entrant, self.plan, self.kind)
        return runs.is_ready and runs.is_done(store)

    def run(self, plan: Plan) -> str:
        """Choose where nothing is chosen yet, then measure."""
        search = choosing(self.arena, self.entrant)
        if plan.configurations and not search.is_done(plan.store):
            search.run(plan)
        if plan.configurations and self.arena.finalists:
            final = deciding(self.arena, self.entrant, plan.store)
            if final is not None and not final.is_done(plan.store):
                final.run(plan)
        return measuring(self.arena, self.entrant, plan, self.kind).run(plan)


@dataclass(frozen=True)
class Reached:
    """What a method reached in an arena.

    Args:
        record: its runs on fresh seeds.
        validation: by which it is compared with others: the mean of the runs that chose, or where
            nothing chose, of the runs that measured.
    """

    entrant: Entrant
    record: Mapping[str, Any]
    validation: float

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that were measured, flat."""
        found: Mapping[str, Any] = self.record["settings"]
        return found

    def against(self, other: Reached | None) -> Comparison | None:
        """Return the paired difference from another method, or None where it cannot be told."""
        if other is None or other.record["runs"] != self.record["runs"]:
            return None
        return compare(self.record["test"], other.record["test"])


def reached(arena: Arena, entrant: Entrant, store: Store) -> Reached | None:
    """Return what a method reached, or None before it is measured."""
    record = store.one(f"{arena.place}/{entrant.key}")
    if record is None:
        return None
    stage = "final" if arena.finalists else "choice"
    search = store.read(f"{arena.place}/{entrant.key}.{stage}")
    results = (search or {}).get("results", ())
    validation = results[_best(arena, results)]["val_mean"] if results else record["val_mean"]
    return Reached(entrant, record, validation)


def best(found: Iterable[Reached | None]) -> Reached | None:
    """Return the best by validation, the first of equals, of those that are measured."""
    measured = [one for one in found if one is not None]
    return max(measured, key=lambda one: one.validation, default=None)
