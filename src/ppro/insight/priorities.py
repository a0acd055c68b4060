"""What the priorities of a run did: how far they differ, their mean, and which nodes got more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import local_homophily, rank_correlation
from ppro.training.diagnosis import Diagnosis, PrioritySpread, cap_of, scales_priorities

NOTABLE = 0.1
"""A rank correlation below this is not told."""
MOST = 3
"""So many of them are told."""
NEAR_ONE = 0.05
"""How far a mean may be from 1 and still be called so."""


@dataclass(frozen=True)
class Relation:
    """How priorities go along with something else that is known of the nodes.

    Args:
        name: what that is.
        more: who got more, in words.
        rho: Spearman's rank correlation.
    """

    name: str
    more: str
    rho: float


@dataclass(frozen=True)
class Priorities:
    """The priorities of one run.

    Args:
        spread: over all nodes.
        on_training: their mean over the training nodes, whose losses they weigh.
        relations: what they go along with, the strongest first.
        besides: what stands beside the weighted loss: consistency, weight decay.
        scaled: whether training scales them to mean 1 over the training nodes.
    """

    spread: PrioritySpread
    on_training: float
    relations: tuple[Relation, ...]
    besides: tuple[str, ...]
    scaled: bool

    def sentences(self) -> list[str]:
        """Return what they did, in words."""
        spread = self.spread
        if spread.is_one:
            return [
                f"All nodes have the priority {spread.mean:.3g}, so priorities favour no node.",
                *self._scale(),
            ]
        told = (
            f"Priorities have mean {spread.mean:.2f} and standard deviation "
            f"{spread.deviation:.2f}; 90 % of the nodes lie within {spread.low:.2f} and "
            f"{spread.high:.2f}."
        )
        strong = [one for one in self.relations if abs(one.rho) >= NOTABLE][:MOST]
        who = "; ".join(f"{one.more} (ρ = {one.rho:+.2f})" for one in strong)
        more = f"More went to {who}." if who else "They go along with nothing that is known here."
        return [told, *self._scale(), more]

    def _scale(self) -> list[str]:
        """Return what the mean over the training nodes does to the loss."""
        mean = self.on_training
        if self.scaled:
            return ["Training scales them to mean 1, so the loss keeps its scale."]
        if np.isnan(mean):
            return []
        if abs(mean - 1) <= NEAR_ONE:
            return ["On the training nodes their mean is 1, so the loss keeps its scale."]
        beside = f" beside {' and '.join(self.besides)}" if self.besides else ""
        return [
            f"On the training nodes their mean is {mean:.2f}: the loss counts {mean:.2g} times "
            f"as much{beside}."
        ]


def priorities_of(run: ExplainedRun) -> Priorities | None:
    """Return what the priorities of the explained run did; None where it has none."""
    told = run.explanation
    if told.priorities is None:
        return None
    settings, trained = run.saved.settings[run.index], run.splits.train[run.index]
    wanted = {
        "consistency": settings.training.consistency,
        "weight decay": settings.training.weight_decay,
    }
    return Priorities(
        PrioritySpread.of(told.priorities, cap_of(settings)),
        float(told.priorities[trained].double().mean()),
        tuple(sorted(_relations(run), key=lambda one: -abs(one.rho))),
        tuple(name for name, weight in wanted.items() if weight > 0),
        scales_priorities(settings),
    )


def _relations(run: ExplainedRun) -> list[Relation]:
    """Return how priorities go along with measures, step, sureness and homophily."""
    told = run.explanation
    assert told.priorities is not None
    values = told.priorities.double().numpy()
    known: list[tuple[str, NDArray[np.float64], str, str]] = [
        ("sureness", told.final.amax(-1).double().numpy(), "sure", "unsure"),
        ("local homophily", local_homophily(run.graph), "high", "low"),
    ]
    if told.measures is not None:
        columns = told.measures.double().numpy().T
        named = zip(told.measure_names, columns, strict=True)
        known += [(name, column, "high", "low") for name, column in named]
    if told.chosen:
        known.append(("step", told.steps.double().numpy(), "late", "early"))
    found = []
    for name, column, high, low in known:
        if (rho := rank_correlation(column, values)) is not None:
            found.append(Relation(name, _who(name, high if rho > 0 else low), rho))
    return found


def _who(name: str, kind: str) -> str:
    if name == "sureness":
        return f"nodes whose class the model is {kind} of"
    return f"nodes at {kind} steps" if name == "step" else f"nodes of {kind} {name}"


def diagnosis_of(run: ExplainedRun) -> Diagnosis:
    """Return what the training recorded of all its runs, or else what is so in this one."""
    found, told = Diagnosis.read(run.saved.facts.get("diagnosis")), run.explanation
    if found is not None:
        return found
    values = [] if told.priorities is None else [told.priorities]
    return Diagnosis.of([told.steps], values, run.saved.settings[run.index])
