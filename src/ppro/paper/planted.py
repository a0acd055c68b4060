"""Planted depths: whether deep nodes take many steps and shallow ones few, and what that gains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from ppro.data import deep_nodes
from ppro.data.names import PER_CLASS, RANDOM
from ppro.paper import entrants
from ppro.paper.entrants import COMPARING, DEPTHS, STARTS, STEPS, Arena, Entrant, Entry, Reached
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.kept import mean_shares
from ppro.paper.store import Store
from ppro.search.batches import Done
from ppro.search.methods import find_method
from ppro.settings.settings import PPRO

GRAPH_SEED = 7
"""Of the graph: one that no design was tried on."""
STRATEGIES = ("l2b", "l2u")
TEACHINGS = ("compare", "paper")
_BACKBONES = entrants.grid(dropout=(0.2, 0.5), lr=(0.01, 0.03))
"""What every method is offered."""
_RAW = {"feature_norm": "none"}
_LEARNING = entrants.grid(lr_controller=(1e-3, 1e-2))
_RIVALS: dict[str, Sequence[Mapping[str, Any]]] = {
    "gprgnn": entrants.grid(max_steps=(10,), alpha=(0.1, 0.9)),
    "dagnn": entrants.grid(max_steps=(5, 10)),
    "jknet": entrants.grid(max_steps=(2, 4)),
    "gcnii": (
        {"max_steps": 8, "alpha": 0.1, "gcnii_lambda": 0.5, "decay": "all"},
        {"max_steps": 8, "alpha": 0.5, "gcnii_lambda": 1.0, "decay": "all"},
    ),
    "h2gcn": entrants.grid(max_steps=(1, 2)),
}
"""Two shapes of every rival, as a strategy has two starts."""


@dataclass(frozen=True)
class Point:
    """One setting of the planted graph, and the form of the backbone on it.

    Args:
        arena: the graph and the split; the rivals of its two forms are the same.
        form: of APPNP: what propagates.
        aim: points by which both strategies should beat the best fixed depth, where there is one.
        gap: steps by which deep nodes should go further than shallow ones, likewise.
    """

    arena: Arena
    form: str
    aim: float | None = None
    gap: float | None = None

    @property
    def title(self) -> str:
        """Return what tables call it."""
        return f"{self.arena.title}, {self.form} form"


def _arena(name: str, title: str, split: str = RANDOM, **options: float | str) -> Arena:
    return Arena(f"planted/{name}", title, "planted", split, options, GRAPH_SEED)


_USUAL = _arena("usual", "the usual graph")
_FEW = _arena("few-labels", "20 labels a class", PER_CLASS)
POINTS = (
    Point(_USUAL, "hidden", aim=1.5, gap=3.0),
    Point(_USUAL, "class", aim=1.5, gap=3.0),
    Point(_FEW, "hidden", aim=1.0),
    Point(_FEW, "class", aim=1.0),
    Point(
        _arena("neighbourhood", "type shown by the neighbourhood alone", show="neighbourhood"),
        "class",
        aim=0.5,
    ),
    Point(_arena("degree", "type shown by the degree", show="degree"), "class"),
    Point(_arena("share-20", "20 % deep nodes", share=0.2), "class"),
    Point(_arena("share-80", "80 % deep nodes", share=0.8), "class"),
    Point(_arena("homophily-60", "homophily 0.6", homophily=0.6), "class"),
)
"""What is varied, one option after the other; the most important first."""


@cache
def fixed(form: str) -> tuple[Entrant, ...]:
    """Return the fixed depths of the backbone."""
    return tuple(
        Entrant(
            f"{form}-fixed-{depth}",
            f"fixed {depth}",
            entrants.offered(
                {**_RAW, "strategy": "none", "form": form, "max_steps": depth}, _BACKBONES
            ),
        )
        for depth in DEPTHS
    )


@cache
def strategy(form: str, name: str, teaching: str) -> Entrant:
    """Return a strategy, its controllers taught by comparing or as the paper has it."""
    shared: dict[str, Any] = {**_RAW, "strategy": name, "form": form}
    title = find_method(name).title
    if teaching == "compare":
        made = entrants.offered({**shared, **COMPARING}, STARTS[:2], _BACKBONES)
        return Entrant(f"{form}-{name}", title, made)
    shared |= {"teaching": "paper", "max_steps": STEPS}
    made = entrants.offered(shared, _LEARNING, _BACKBONES)
    return Entrant(f"{form}-{name}-paper", f"{title}, the paper's", made)


@cache
def rivals() -> tuple[Entrant, ...]:
    """Return the rivals; none of them has a form."""
    return tuple(
        Entrant(
            name,
            find_method(name).title,
            entrants.offered({**_RAW, "model": name}, shapes, _BACKBONES),
        )
        for name, shapes in _RIVALS.items()
    )


def entrants_of(point: Point) -> list[Entrant]:
    """Return all that meet at a point: fixed depths, strategies, rivals."""
    taught = [strategy(point.form, s, teaching) for teaching in TEACHINGS for s in STRATEGIES]
    return [*fixed(point.form), *taught, *rivals()]


@dataclass(frozen=True)
class OfTypes(Experiment):
    """Runs on planted depths that keep the steps of deep and of shallow nodes."""

    def _result(self, runs: Sequence[Done]) -> dict[str, Any]:
        found, settings = super()._result(runs), self.candidates[0].settings
        if settings.model != PPRO or settings.strategy == "none":
            return found
        deep = torch.from_numpy(deep_nodes(self.graph_seed, self.options))
        return found | {"deep": _steps_of(runs, deep), "shallow": _steps_of(runs, ~deep)}


def _steps_of(runs: Sequence[Done], nodes: torch.Tensor) -> dict[str, Any]:
    """Return the mean step of some nodes in every run, and the mean share of each step."""
    steps = [done.steps[nodes] for done in runs]
    count = len(runs[0].step_shares)
    shares = [(torch.bincount(s.long(), minlength=count) / s.numel()).tolist() for s in steps]
    return {
        "mean_step": [round(float(s.float().mean()), 5) for s in steps],
        "step_shares": mean_shares(shares),
    }


def experiments(plan: Plan, points: Sequence[Point] = POINTS) -> list[Entry]:
    """Return what is run, point by point."""
    return [
        Entry.of(point.arena, entrant, plan, OfTypes)
        for point in points
        for entrant in entrants_of(point)
    ]


def best_fixed(point: Point, store: Store) -> Reached | None:
    """Return the best of the fixed depths by validation."""
    return entrants.best(entrants.reached(point.arena, one, store) for one in fixed(point.form))
