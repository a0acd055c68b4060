"""A personal step against the best fixed depth, on graphs that were not built to need one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import RANDOM
from ppro.paper import entrants
from ppro.paper.entrants import (
    CHOOSING,
    CHOOSING_LARGE,
    CHOOSING_SMALL,
    COMPARING,
    DEPTHS,
    STARTS,
    Arena,
    Entrant,
    Entry,
    Reached,
)
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
FEW, MANY = 1000, 5000
"""Graphs with fewer nodes have so few to validate on that more runs must choose, and those with
more, a fifth of them to validate on, need not so many."""


@dataclass(frozen=True)
class Family:
    """What backbone a graph has: the same for fixed depths and strategies.

    Args:
        shape: what all configurations share.
        choices: what they differ in.
    """

    shape: Mapping[str, Any]
    choices: tuple[Mapping[str, Any], ...]


_RAW: dict[str, Any] = {"feature_norm": "none", "decay": "all"}
_CITATIONS = entrants.grid(dropout=(0.5, 0.8), weight_decay=(5e-4, 5e-3))
_SMALL = entrants.grid(dropout=(0.2, 0.5), weight_decay=(5e-4, 5e-3))
_FAST = entrants.grid(dropout=(0.2, 0.5), lr=(0.01, 0.03))
_WEBSITES = Family({**_RAW, "concat": True, "lr": 0.03}, _SMALL)
_SCORES = {"form": "class", "feature_norm": "unit"}
FAMILIES: dict[str, Family] = {
    "cora": Family({}, _CITATIONS),
    "citeseer": Family({}, _CITATIONS),
    "pubmed": Family({"form": "class"}, _CITATIONS),
    "chameleon": Family({**_RAW, "self_loops": False, "alpha": 0.0, "weight_decay": 5e-5}, _FAST),
    "cornell-legacy": _WEBSITES,
    "texas": _WEBSITES,
    "wisconsin": _WEBSITES,
    "actor": Family(
        {"feature_norm": "none", "form": "class", "alpha": 0.5},
        _SMALL,
    ),
    "cora-ml": Family(_SCORES, _CITATIONS),
    "blogcatalog": Family({**_SCORES, "weight_decay": 5e-5}, _FAST),
    "dblp": Family(_SCORES, _FAST),
    "amazon-cs": Family({**_SCORES, "weight_decay": 5e-5}, _FAST),
    "squirrel-filtered": Family({**_RAW, "self_loops": False}, _FAST),
    "minesweeper": Family(
        {**_RAW, "concat": True, "weight_decay": 5e-5},
        entrants.grid(dropout=(0.0, 0.2), lr=(0.01, 0.03)),
    ),
}
"""Of every graph: one shape, and four configurations; with them 300 epochs are enough."""


@cache
def arenas() -> tuple[Arena, ...]:
    """Return the graphs as they are, the paper's first."""
    return tuple(_arena(name) for name in (*EIGHT, *SIX))


def _arena(name: str) -> Arena:
    info = dataset_info(name)
    nodes = info.expected.nodes if info.expected else FEW
    few, many = nodes < FEW, nodes > MANY and info.splits[0] == RANDOM
    runs = CHOOSING_SMALL if few else CHOOSING_LARGE if many else CHOOSING
    return Arena(f"personal/{name}", info.title, name, info.splits[0], choosing=runs)


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
            choosing=CHOOSING_LARGE,
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
    """Return all that competed on a graph, or None until all are measured."""
    base = entrants.reached(arena, fixed(arena.dataset), store)
    both = {s: entrants.reached(arena, strategy(arena.dataset, s), store) for s in STRATEGIES}
    measured = {s: found for s, found in both.items() if found is not None}
    better = entrants.best(both.values())
    if base is None or better is None or len(measured) < len(both):
        return None
    return Duel(arena, base, measured, better)
