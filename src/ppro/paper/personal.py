"""A personal step against the best fixed depth, on graphs that nobody built to need one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import RANDOM
from ppro.paper import entrants
from ppro.paper.entrants import COMPARING, DEPTHS, STARTS, Arena, Entrant, Entry, Reached
from ppro.paper.experiment import Plan, size_of
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.search.methods import find_method

STRATEGIES = ("l2b", "l2u")
SIX = ("cora-ml", "blogcatalog", "dblp", "amazon-cs", "squirrel-filtered", "minesweeper")
"""Graphs beyond the paper's."""
NOISE = 0.5
"""Share of the nodes whose edges are drawn at random, on two of the graphs once more."""
NOISY = ("cora-ml", "dblp")


@dataclass(frozen=True)
class Family:
    """What backbone a graph has: the same for fixed depths and strategies.

    Args:
        shape: what all configurations share.
        choices: what they differ in.
    """

    shape: Mapping[str, Any]
    choices: tuple[Mapping[str, Any], ...]


def _family(dropout: Sequence[float], weight_decay: Sequence[float], **shape: Any) -> Family:
    return Family(shape, entrants.grid(dropout=dropout, weight_decay=weight_decay))


_CITATIONS = (0.5, 0.8), (5e-4, 5e-3)
_USUAL = (0.2, 0.5), (5e-5, 5e-4)
_SKIP: dict[str, Any] = {"feature_norm": "none", "decay": "all", "concat": True}
_NO_LOOPS: dict[str, Any] = {"feature_norm": "none", "decay": "all", "self_loops": False}
FAMILIES: dict[str, Family] = {
    "cora": _family(*_CITATIONS),
    "citeseer": _family(*_CITATIONS),
    "pubmed": _family(*_CITATIONS, form="class"),
    "chameleon": _family((0.2, 0.5), (1e-5, 1e-4), alpha=0.0, **_NO_LOOPS),
    **dict.fromkeys(
        ("cornell-legacy", "texas", "wisconsin"), _family((0.2, 0.5), (5e-3, 5e-4), **_SKIP)
    ),
    "actor": _family((0.2, 0.5), (5e-3, 5e-4), form="class", alpha=0.5, feature_norm="none"),
    "cora-ml": _family((0.5, 0.8), (5e-5, 5e-4), form="class", feature_norm="unit"),
    "blogcatalog": _family(*_USUAL, form="class", feature_norm="unit"),
    "dblp": _family(*_USUAL, form="class", feature_norm="unit"),
    "amazon-cs": _family(*_USUAL, form="class", feature_norm="unit"),
    "squirrel-filtered": _family(*_USUAL, **_NO_LOOPS),
    "minesweeper": _family((0.0, 0.2), (0.0, 5e-5), **_SKIP),
}
"""Of every graph: one shape, and four configurations of dropout and weight decay."""


@cache
def arenas() -> tuple[Arena, ...]:
    """Return the graphs as they are, the paper's first."""
    return tuple(
        Arena(f"personal/{name}", dataset_info(name).title, name, dataset_info(name).splits[0])
        for name in (*EIGHT, *SIX)
    )


@cache
def noisy_arenas() -> tuple[Arena, ...]:
    """Return the graphs of which a share of the nodes has random edges."""
    return tuple(
        Arena(
            f"personal/{name}-noise",
            f"{dataset_info(name).title} with noise",
            name,
            RANDOM,
            {"noise": NOISE},
        )
        for name in NOISY
    )


@cache
def fixed(dataset: str) -> Entrant:
    """Return the backbone at every fixed depth."""
    family = FAMILIES[dataset]
    depths = entrants.grid(max_steps=DEPTHS)
    shared = {**family.shape, "strategy": "none"}
    return Entrant("fixed", "fixed depth", entrants.offered(shared, depths, family.choices))


@cache
def strategy(dataset: str, name: str) -> Entrant:
    """Return a strategy on the same backbone."""
    family = FAMILIES[dataset]
    shared = {**family.shape, **COMPARING, "strategy": name}
    title = find_method(name).title
    return Entrant(name, title, entrants.offered(shared, STARTS, family.choices))


def experiments(plan: Plan, where: Sequence[Arena] | None = None) -> list[Entry]:
    """Return what is run, the largest graphs first."""
    all_arenas = (*arenas(), *noisy_arenas()) if where is None else where
    by_size = sorted(all_arenas, key=lambda arena: -size_of(arena.dataset))
    return [
        Entry.of(arena, entrant, plan)
        for arena in by_size
        for entrant in (fixed(arena.dataset), *(strategy(arena.dataset, s) for s in STRATEGIES))
    ]


@dataclass(frozen=True)
class Duel:
    """The best fixed depth of a graph, both strategies, and the better of them by validation."""

    arena: Arena
    fixed: Reached
    both: Mapping[str, Reached]
    better: Reached


def duel(arena: Arena, store: Store) -> Duel | None:
    """Return who met on a graph, or None until all are measured."""
    base = entrants.reached(arena, fixed(arena.dataset), store)
    both = {s: entrants.reached(arena, strategy(arena.dataset, s), store) for s in STRATEGIES}
    measured = {s: found for s, found in both.items() if found is not None}
    better = entrants.best(both.values())
    if base is None or better is None or len(measured) < len(both):
        return None
    return Duel(arena, base, measured, better)
