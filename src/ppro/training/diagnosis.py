"""How far the nodes of a run differ in step and priority, and whether they hardly do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ppro.parts import STRATEGIES
from ppro.settings.settings import PPRO

if TYPE_CHECKING:
    from torch import Tensor

    from ppro.settings.settings import Settings

NEARLY_ALL = 0.95
"""More than this share of the nodes at one step, or at one priority, counts as all of them."""
NO_SPREAD = 1e-3
"""Priorities whose deviation is a smaller share of their mean than this are equal."""
AT_ONE_VALUE, AT_CAP = 1e-6, 1e-3
"""Relative distance within which a priority is at the median, or at its cap."""
LOW, HIGH = 0.05, 0.95
"""The quantiles of priorities that are told."""
ENOUGH = 10_000_000
"""Nodes whose priorities are measured: of more, evenly spaced ones, to save memory."""


@dataclass(frozen=True)
class StepSpread:
    """The steps of the nodes of one run.

    Args:
        shares: of all nodes at step 0, 1 … L.
    """

    shares: tuple[float, ...]

    @property
    def common(self) -> int:
        """Return the most common step, the first of several."""
        return int(np.argmax(self.shares))

    @property
    def is_one(self) -> bool:
        """Tell whether nearly all nodes share a step."""
        return max(self.shares) > NEARLY_ALL

    @classmethod
    def of(cls, steps: Tensor, last: int) -> Self:
        """Count the steps of all nodes. Shape ``[n]``."""
        counts = np.bincount(steps.cpu().numpy(), minlength=last + 1)
        return cls(tuple((counts / max(counts.sum(), 1)).round(5).tolist()))


@dataclass(frozen=True)
class PrioritySpread:
    """The priorities of the nodes of one run.

    Args:
        low: 5 % of the nodes have less.
        high: 5 % have more.
        same: the share of the nodes that have the median.
        capped: the share that has the most that the form of the weights allows.
    """

    mean: float
    deviation: float
    low: float
    high: float
    same: float
    capped: float

    @property
    def is_one(self) -> bool:
        """Tell whether all priorities are equal, or nearly all."""
        return self.deviation < NO_SPREAD * abs(self.mean) or self.same > NEARLY_ALL

    @classmethod
    def of(cls, priorities: Tensor, cap: float | None) -> Self:
        """Measure the priorities of all nodes. Shape ``[n]``.

        Args:
            cap: the most that a priority can be, or None where there is no such bound.
        """
        some = priorities[:: max(1, -(-len(priorities) // ENOUGH))]
        values: NDArray[np.float64] = some.cpu().numpy().astype(np.float64)
        low, middle, high = np.quantile(values, [LOW, 0.5, HIGH]).tolist()
        same = np.abs(values - middle) <= AT_ONE_VALUE * abs(middle)
        capped = values >= (1 - AT_CAP) * (np.inf if cap is None else cap)
        found = (values.mean(), values.std(), low, high, same.mean(), capped.mean())
        return cls(*(float(f"{number:.5g}") for number in found))


@dataclass(frozen=True)
class Diagnosis:
    """What the runs of a training gave to their nodes.

    Args:
        steps: of every run; None where no controller chooses them.
        priorities: of every run; None where no controller gives them.
    """

    steps: tuple[StepSpread, ...] | None = None
    priorities: tuple[PrioritySpread, ...] | None = None

    @classmethod
    def of(cls, steps: Sequence[Tensor], priorities: Sequence[Tensor], settings: Settings) -> Self:
        """Diagnose runs from what each gave to all nodes. Shape ``[n]`` each.

        Args:
            settings: of one of the runs; all have the same controllers.
        """
        chosen, last = settings.controllers, settings.network.max_steps
        learns = settings.model == PPRO and STRATEGIES.get(settings.strategy).learns
        cap = cap_of(settings)
        return cls(
            tuple(StepSpread.of(run, last) for run in steps)
            if learns and chosen.use_propagation
            else None,
            tuple(PrioritySpread.of(run, cap) for run in priorities)
            if learns and chosen.use_weighting
            else None,
        )

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> Self | None:
        """Return what :meth:`facts` wrote; None where nothing was recorded."""
        if values is None:
            return None
        shares, columns = values["shares"], values["priorities"]
        return cls(
            None if shares is None else tuple(StepSpread(tuple(run)) for run in shares),
            None
            if columns is None
            else tuple(
                PrioritySpread(**{key: _number(one) for key, one in zip(columns, run, strict=True)})
                for run in zip(*columns.values(), strict=True)
            ),
        )

    def facts(self) -> dict[str, Any]:
        """Return plain values: shares by run and step, and a list over the runs for the rest."""
        rows = None if self.priorities is None else [asdict(run) for run in self.priorities]
        return {
            "shares": None if self.steps is None else [list(run.shares) for run in self.steps],
            "priorities": rows and {key: [row[key] for row in rows] for key in rows[0]},
            "runs_at_one_step": self.at_one_step,
            "runs_with_equal_priorities": self.with_equal_priorities,
        }

    @cached_property
    def at_one_step(self) -> int:
        """Return the number of runs in which nearly all nodes share a step."""
        return sum(run.is_one for run in self.steps or ())

    @cached_property
    def with_equal_priorities(self) -> int:
        """Return the number of runs in which all priorities are equal."""
        return sum(run.is_one for run in self.priorities or ())

    @property
    def shares_a_step(self) -> bool:
        """Tell whether nearly all nodes share a step in most runs."""
        return 2 * self.at_one_step > len(self.steps or ())

    @property
    def has_equal_priorities(self) -> bool:
        """Tell whether all priorities are equal in most runs."""
        return 2 * self.with_equal_priorities > len(self.priorities or ())

    @property
    def is_capped(self) -> bool:
        """Tell whether priorities are equal because they are as large as they can be."""
        runs = [run for run in self.priorities or () if run.is_one]
        return bool(runs) and 2 * sum(run.capped > NEARLY_ALL for run in runs) > len(runs)

    def verdicts(self) -> list[str]:
        """Return what a user should know, one line each; empty where nothing has collapsed."""
        found = []
        if self.shares_a_step:
            found.append(f"nearly all nodes share a step: {self._told_of_steps()}")
        if self.has_equal_priorities:
            found.append(f"all priorities are equal: {self._told_of_priorities()}")
        return found

    def _told_of_steps(self) -> str:
        runs = [run for run in self.steps or () if run.is_one]
        if len(self.steps or ()) == 1:
            return f"{100 * max(runs[0].shares):.1f} % are at step {runs[0].common}"
        step, times = Counter(run.common for run in runs).most_common(1)[0]
        where = f"step {step}" + ("" if times == len(runs) else f" in {times} of them")
        return f"more than 95 % are at one in {_of(runs, self.steps)} runs ({where})"

    def _told_of_priorities(self) -> str:
        runs = [run for run in self.priorities or () if run.is_one]
        reason = ", as large as they can be" if self.is_capped else ""
        if len(self.priorities or ()) == 1:
            return f"{runs[0].mean:.3g} for every node{reason}"
        return f"the same for every node in {_of(runs, self.priorities)} runs{reason}"


def cap_of(settings: Settings) -> float | None:
    """Return the most that a priority can be; None where there is no such bound."""
    literal = not scales_priorities(settings)
    return 2.0 if literal and settings.controllers.weight_form == "tanh" else None


def scales_priorities(settings: Settings) -> bool:
    """Tell whether training scales priorities to mean 1 over the training nodes."""
    chosen = settings.controllers
    return chosen.teaching == "compare" or chosen.priority_scale == "mean"


def _number(value: float | None) -> float:
    """Return NaN for the null that stands for it in JSON."""
    return float("nan") if value is None else value


def _of(some: Sequence[object], whole: Sequence[object] | None) -> str:
    return f"{len(some)} of {len(whole or ())}"
