"""A cell of a table or figure: a method on a graph, at the settings that its search chose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ppro.data import kind_of
from ppro.data.names import PUBLIC
from ppro.paper.experiment import Candidate, Experiment, Keep, Plan
from ppro.search.methods import find_method
from ppro.search.offers import USUAL, Offer
from ppro.settings.limits import SEARCH_SEED, SEEDS_OF_FIXED, SEEDS_OF_RANDOM
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings

_FOLDERS: dict[Keep, str] = {"accuracies": "cells", "curves": "curves", "nodes": "nodes"}


@dataclass(frozen=True)
class Cell:
    """What a table or a figure wants to know.

    Args:
        changes: settings that differ from those that the search chose, such as the depth.
        keep: what is kept of the runs.
        offer: what its search is offered.
    """

    dataset: str
    split: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    keep: Keep = "accuracies"
    offer: Offer = USUAL

    @property
    def searched(self) -> str:
        """Return the place of the search that it rests on."""
        return f"search/{self.offer.folder}{self.dataset}.{self.split}/{self.method}"

    @property
    def place(self) -> str:
        """Return the place of its results, which names what differs from the chosen settings."""
        variant = ",".join(f"{key}={value}" for key, value in sorted(self.changes.items()))
        name = f"{self.method}@{variant}" if variant else self.method
        folder = f"{_FOLDERS[self.keep]}/{self.offer.folder}"
        return f"{folder}{self.dataset}.{self.split}/{name}"


def searches(cells: Iterable[Cell], plan: Plan) -> list[Experiment]:
    """Return the searches that cells rest on, the largest first; none where the plan has none."""
    if plan.configurations == 0:
        return []
    found = {cell.searched: cell for cell in cells}
    return by_size(part for cell in found.values() for part in _search(cell, plan))


def _search(cell: Cell, plan: Plan) -> list[Experiment]:
    """Return the search of a cell: one experiment, or one for each program under another offer.

    Parts are small, so that little is lost when a machine is given back.
    """
    kind, offer = kind_of(cell.dataset), cell.offer.named(plan.space)
    drawn = offer.candidates(find_method(cell.method), kind, plan.configurations)
    if cell.offer == USUAL:
        return [_part(cell, cell.searched, drawn, kind if offer == USUAL else offer.space)]
    programs: dict[str, list[Settings]] = {}
    for settings in drawn:
        programs.setdefault(repr(settings.program()), []).append(settings)
    return [
        _part(cell, f"{cell.searched}/{i}", members, offer.folder.rstrip("/"))
        for i, members in enumerate(programs.values())
    ]


def _part(cell: Cell, place: str, drawn: Sequence[Settings], space: str) -> Experiment:
    return Experiment(
        place,
        cell.dataset,
        cell.split,
        tuple(Candidate(cell.method, settings) for settings in drawn),
        SEEDS_OF_FIXED if cell.split == PUBLIC else SEEDS_OF_RANDOM,
        SEARCH_SEED,
        tested=False,
        facts={**_named(cell), "space": space, "configurations": len(drawn)},
    )


def _named(cell: Cell) -> dict[str, Any]:
    """Return what a cell can be asked for by: its method, and its depth where that is given."""
    steps = cell.offer.steps
    return {"method": cell.method, **({} if steps is None else {"steps": steps})}


def _searched(cell: Cell, plan: Plan) -> list[Mapping[str, Any]]:
    """Return all that the search of a cell tried; nothing before all of it is done."""
    if cell.offer == USUAL:
        record = plan.store.read(cell.searched)
        return [] if record is None else list(record["results"])
    if plan.configurations == 0:
        return []
    records = [part.record(plan.store) for part in _search(cell, plan)]
    whole = [record for record in records if record is not None]
    return [one for record in whole for one in record["results"]] if whole == records else []


def experiments(
    cells: Iterable[Cell], plan: Plan, *, without_search: bool = False
) -> list[Experiment]:
    """Return the experiments of cells, the largest first.

    Args:
        without_search: whether the shipped recipe may take the place of a search.
    """
    return by_size(_experiment(cell, plan, without_search) for cell in cells)


def _experiment(cell: Cell, plan: Plan, without_search: bool) -> Experiment:
    settings, configurations, validation = _chosen(cell, plan, without_search)
    candidates: tuple[Candidate, ...] = ()
    if settings is not None:
        changed = settings.replace(**{**plan.changes, **cell.changes})
        candidates = (Candidate(cell.method, changed),)
    facts = {
        **_named(cell),
        "changes": dict(cell.changes),
        "configurations": configurations,
        "offered": _offered(cell, plan) if configurations else 0,
        "search_validation": validation,
    }
    where = cell.place, cell.dataset, cell.split
    return Experiment(*where, candidates, plan.runs, keep=cell.keep, facts=facts)


def _offered(cell: Cell, plan: Plan) -> int:
    """Return how many configurations its search could draw from."""
    return offered(replace(cell, offer=cell.offer.named(plan.space)))


def offered(cell: Cell) -> int:
    """Return how many configurations there are in what a cell is offered."""
    return cell.offer.size(find_method(cell.method), kind_of(cell.dataset))


def _chosen(
    cell: Cell, plan: Plan, without_search: bool
) -> tuple[Settings | None, int, float | None]:
    """Return settings, how many were searched, and what the best of them reached there.

    The best mean validation accuracy is chosen, the first of equals. Settings are None before they
    are known.
    """
    tried = _searched(cell, plan)
    if tried:
        best = max(tried, key=lambda one: float(one["val_mean"]))
        return Settings.read(best["settings"]), len(tried), best["val_mean"]
    if without_search:
        return shipped_recipe(f"{cell.dataset}-{cell.method}").settings, 0, None
    if plan.configurations == 0:
        method, kind = find_method(cell.method), kind_of(cell.dataset)
        return cell.offer.named(plan.space).candidates(method, kind, 1)[0], 0, None
    return None, 0, None


def by_size(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Return experiments, the largest first."""
    return sorted(experiments, key=lambda experiment: -experiment.size)
