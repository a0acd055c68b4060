"""Equal offers: the backbone alone, L2B and L2U choose from spaces of the same size.

The paper's graphs. What a strategy may choose besides a backbone's settings is how its controllers
are taught and where they start; the backbone alone may choose its depth instead.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.paper import differing, entrants
from ppro.paper.entrants import Arena, Entrant, Entry, Reached
from ppro.paper.experiment import Plan, size_of
from ppro.paper.kept import off_common
from ppro.paper.render import section
from ppro.paper.statistics import mean_and_spread, with_error
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.taught import EXPLORE, FIRST, HELD, LEAN
from ppro.search.methods import find_method
from ppro.settings.settings import Settings
from ppro.settings.space import Shapes, Space, Values

TITLE = "Equal offers"
CONFIGURATIONS, FINALISTS = 24, 4
METHODS = {"none": "appnp-none", "l2b": "l2b", "l2u": "l2u"}
_LIMITS = {"epochs": 500, "patience": 150}
_PAPER = {"teaching": "paper", "epsilon": 0.9, "propagation_bias": -2.0, "lr_controller": 0.001}
_PAPER_EVEN = {**_PAPER, "epsilon": 0.7, "propagation_bias": 0.0, "lr_controller": 0.01}
"""Controllers as the paper teaches them, that begin sure of going on, or in doubt."""
_WAYS_OF_FEW = (_PAPER, EXPLORE, LEAN, _PAPER_EVEN)
_WAYS_OF_MANY = (EXPLORE, HELD, FIRST, _PAPER_EVEN)
_MUCH: Mapping[str, Any] = {"form": "hidden", "dropout": 0.8, "lr": 0.01}
"""For few labels: the paper's backbone, with or without agreement of two passes."""
_LITTLE: Mapping[str, Any] = {"form": "hidden", "dropout": 0.2, "lr": 0.01, "node_dropout": 0.5}
"""For few labels: little dropout, and two passes must agree."""
_CLASS: Mapping[str, Any] = {
    **{"form": "class", "dropout": 0.2, "lr": 0.05, "node_dropout": 0.5},
    "consistency_forwards": 4,
}
"""For few labels: class scores propagate, and four passes must agree, as GRAND has it."""
_ALONE_OR_TWO: Values = {
    "weight_decay": (5e-4, 1e-3),
    "consistency": (0.0, 1.0),
    "node_dropout": (0.0, 0.5),
}
_TWO: Values = {
    "weight_decay": (1e-3, 5e-4),
    "consistency": (1.0, 2.5),
    "consistency_temperature": (0.5, 0.4),
}
_FOUR: Values = {
    "weight_decay": (1e-3, 5e-4),
    "consistency": (5.0, 1.0),
    "consistency_temperature": (0.5, 0.4),
}
_HELD_BACK: Values = {
    "dropout": (0.5, 0.7, 0.2),
    "weight_decay": (5e-3, 5e-4, 5e-5),
    "lr": (0.01, 0.03),
}
"""For many labels and a network that could learn the features by heart."""
_FREE: Values = {name: choices[::-1] for name, choices in _HELD_BACK.items()}
"""The same the other way round, for one that sees a node through its neighbours alone."""
_RAW: Mapping[str, Any] = {"feature_norm": "none", "decay": "all"}
_SKIP = {**_RAW, "concat": True}
_NO_LOOPS = {**_RAW, "self_loops": False, "alpha": 0.0}
_FEATURES = {**_NO_LOOPS, "form": "features"}
_HEAD = (
    "graph|method|offered|runs|chosen|validation|test|against the backbone|off the common step|"
    "spread of the priorities"
)


def _each(forms: Sequence[Mapping[str, Any]], *choices: Mapping[str, Any]) -> Shapes:
    return tuple({**form, **choice} for form in forms for choice in choices)


def _spaces(dataset: str, strategy: str) -> tuple[Space, ...]:
    """Return what a method may choose on a graph; as much for each method."""
    alone, few = strategy == "none", dataset_info(dataset).splits[0] == PUBLIC
    depths, deepest = ((10, 1, 4, 16), 10) if few else ((1, 2, 4, 8), 8)
    ways = _WAYS_OF_FEW if few else _WAYS_OF_MANY
    fixed = tuple({"max_steps": depth} for depth in depths)
    shapes = fixed if alone else tuple({**way, "max_steps": deepest} for way in ways)
    if few:
        regimes = ((_MUCH, _ALONE_OR_TWO), (_LITTLE, _TWO), (_CLASS, _FOUR))
        return tuple(Space(_each((form,), *shapes), values) for form, values in regimes)
    skips, neighbours = (_SKIP, {**_SKIP, "alpha": 0.0}), (_NO_LOOPS, _FEATURES)
    return (
        Space(_each(skips, *shapes), _HELD_BACK),
        Space(_each(neighbours, *shapes), _FREE),
    )


def size_of_offer(dataset: str, strategy: str) -> int:
    """Return how many different configurations a method could be offered."""
    return sum(space.size() for space in _spaces(dataset, strategy))


@cache
def entrant(dataset: str, strategy: str) -> Entrant:
    """Return a method with what it is offered on a graph."""
    spaces = _spaces(dataset, strategy)
    drawn = [c for space in spaces for c in space.draw(CONFIGURATIONS // len(spaces))]
    shared = {**_LIMITS, "strategy": strategy}
    made = tuple(Settings.read({**shared, **configuration}) for configuration in drawn)
    return Entrant(strategy, find_method(METHODS[strategy]).title, made)


@cache
def arena(dataset: str) -> Arena:
    """Return a graph where the three meet."""
    info = dataset_info(dataset)
    public = info.splits[0] == PUBLIC
    return Arena(
        f"offers/{dataset}",
        info.title,
        dataset,
        info.splits[0],
        choosing=3 if public else 5,
        finalists=FINALISTS,
        deciding=10 if public else 20,
        more=5,
        personal=True,
    )


def experiments(plan: Plan, datasets: Sequence[str] = EIGHT) -> list[Entry]:
    """Return what is run, the largest graphs first."""
    return [
        Entry.of(arena(dataset), entrant(dataset, strategy), plan)
        for dataset in sorted(datasets, key=size_of, reverse=True)
        for strategy in METHODS
    ]


def markdown(store: Store) -> str:
    """Return what each method chose and reached."""
    rows = [row for dataset in EIGHT for row in _rows(dataset, store)]
    return section(TITLE, _text(), _HEAD, rows, "offers")


def _text() -> str:
    few, many = (size_of_offer(dataset, "l2b") for dataset in ("cora", "texas"))
    most, least = differing.SHARES
    return (
        "The backbone alone and both strategies are offered "
        f"{CONFIGURATIONS} configurations each, drawn from spaces of the same size ({few} on "
        f"public splits, {many} on random ones): the same dropout, decay, learning rate and "
        "consistency; the backbone has its depth, from 1, where a strategy has how its controllers "
        "are taught, by comparing steps or as in the paper, and where they start. On public "
        "splits a third of them let hidden vectors propagate with much dropout, a third with "
        "little dropout and agreement of two passes, a third class scores with agreement of "
        f"four. Few runs choose {FINALISTS} of them, half of those by validation alone and half "
        f"among those with at least {most:.0%} of the nodes off the most common step; "
        "others on seeds of their own choose one: the best whose nodes differ so, unless its "
        f"validation accuracy is below the best of all by more than {differing.TOLERATED} points "
        f"and more than one standard error of these runs, or by more than {differing.MOST:g}; or "
        f"else the best with {least:.0%}, by the same measure. What is shown ran on fresh seeds. "
        "No test node was seen before. Test accuracy in percent, mean ± standard deviation; "
        "differences are paired, with their standard errors."
    )


def _rows(dataset: str, store: Store) -> list[list[str]]:
    found = {s: entrants.reached(arena(dataset), entrant(dataset, s), store) for s in METHODS}
    base = found["none"]
    return [_row(dataset, one, base) for one in found.values() if one is not None]


def _row(dataset: str, one: Reached, base: Reached | None) -> list[str]:
    compared = None if one is base else one.against(base)
    off, record = off_common(one.record), one.record
    verdict = "" if compared is None else f", {compared.verdict}"
    return [
        dataset_info(dataset).title,
        one.entrant.title,
        str(len(one.entrant.offered)),
        str(record["runs"]),
        _chosen(one.settings),
        f"{one.validation:.1f}",
        mean_and_spread(record),
        f"{with_error(compared)}{verdict}",
        "–" if off is None else f"{off:.0%}",
        _spread(record),
    ]


def _chosen(settings: Mapping[str, Any]) -> str:
    """Return what tells the chosen configuration from its neighbours."""
    names = (
        "form",
        "max_steps",
        "teaching",
        "start",
        "dropout",
        "weight_decay",
        "lr",
        "consistency",
    )
    shown = [f"{name} {settings[name]}" for name in names if settings.get(name) is not None]
    if settings.get("strategy") == "none":
        shown = [part for part in shown if not part.startswith(("start ", "teaching "))]
    return ", ".join(shown)


def _spread(record: Mapping[str, Any]) -> str:
    priorities = (record.get("diagnosis") or {}).get("priorities")
    if not priorities:
        return "–"
    deviations = priorities["deviation"]
    return f"{sum(deviations) / len(deviations):.2f}"
