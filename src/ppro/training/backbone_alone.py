"""The bare backbone at several depths, on the seeds and splits of a training with controllers.

The depth is chosen by the validation nodes alone; the test nodes of the depth that was chosen are
then compared with those of the training, run by run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ppro.data.splits import Splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.parts import METRICS, STRATEGIES
from ppro.settings.settings import PPRO, Settings
from ppro.training import fit as fitting
from ppro.training.fit import Fit
from ppro.training.metrics import Metric
from ppro.training.paired import compare

BARE = "none"
"""The strategy without controllers."""
DIGITS = 5
"""Scores come in single precision; rounded to so many digits, equals are equal."""


_OPPOSITE = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, eq=False)
class Bare:
    """The backbone alone at one depth. Shapes ``[R]``.

    Args:
        steps: its depth.
        val_score: the metric of the settings on the validation nodes of each run.
        test_score: likewise on the test nodes.
        metric: its name.
    """

    steps: int
    val_score: Tensor
    test_score: Tensor
    metric: str = "accuracy"

    @property
    def worth(self) -> float:
        """Return the mean worth on validation nodes; a run that diverged counts as the worst."""
        metric: type[Metric] = METRICS.get(self.metric)
        return round(statistics.fmean(map(metric.worth, self.val_score.tolist())), DIGITS)


def check_comparable(settings: Settings, splits: Splits | None = None) -> None:
    """Refuse to compare what has no backbone beside its controllers.

    Args:
        splits: those to compare on, once they are known.

    Raises:
        SettingsError: it is a rival or the bare backbone itself, or there is no test node.
    """
    if settings.model != PPRO:
        raise SettingsError(
            f"--compare: {settings.model} is a rival without controllers, so there is no backbone "
            "to compare it with; leave --compare out"
        )
    if not STRATEGIES.get(settings.strategy).learns:
        raise SettingsError(
            f"--compare: strategy {settings.strategy} is the bare backbone itself; leave "
            "--compare out, or choose a strategy that learns, such as l2b"
        )
    if splits is not None and not bool(splits.test.any(1).all()):
        raise SettingsError(
            f"--compare: split {splits.name} has no test nodes to compare on; leave --compare out, "
            "or give another split"
        )


def depths_of(settings: Settings) -> list[int]:
    """Return the depths 0, 1, 2, 4, 8 … and L, as far as the backbone takes them."""
    last = settings.network.max_steps
    powers = (2**i for i in range(last.bit_length()) if 2**i < last)
    return [depth for depth in (0, *powers, last) if _is_possible(settings, depth)]


def _is_possible(settings: Settings, depth: int) -> bool:
    try:
        bare_settings(settings, depth)
    except SettingsError:
        return False
    return True


def bare_settings(settings: Settings, depth: int) -> Settings:
    """Return the same settings for the bare backbone at a depth."""
    return settings.replace(strategy=BARE, max_steps=depth)


def train_bare(
    graph: Graph, splits: Splits, settings: Sequence[Settings], steps: int, **options: Any
) -> Bare:
    """Train the bare backbone at a depth, all else as in the settings of every run.

    Args:
        options: those of :func:`ppro.training.fit.fit`.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it early.
    """
    bare = [bare_settings(one, steps) for one in settings]
    result = fitting.fit(graph, splits, bare, **{"diverged": "keep", **options})
    if result.history.interrupted:
        raise KeyboardInterrupt
    return Bare(steps, result.val_score, result.test_score, settings[0].training.metric)


def against_backbone(result: Fit, tried: Sequence[Bare]) -> dict[str, Any]:
    """Return how a training differs from the backbone at the depth that validation chose.

    Scores are in percent, differences in points, where the metric is shown so.

    Args:
        tried: the backbone at every depth; of equals the first is chosen, the shallowest.
    """
    best, settings = max(tried, key=lambda bare: bare.worth), result.settings[0]
    metric: type[Metric] = METRICS.get(settings.training.metric)
    factor = 100 if metric.percent else 1
    pairs = [
        (round(factor * ours, DIGITS), round(factor * theirs, DIGITS))
        for ours, theirs in zip(result.test_score.tolist(), best.test_score.tolist(), strict=True)
        if not math.isnan(ours - theirs)
    ]
    theirs = [pair[1] for pair in pairs] or [math.nan]
    found = compare([pair[0] for pair in pairs] or [math.nan], theirs)
    return {
        "metric": metric.name,
        "steps": best.steps,
        "tried": {str(bare.steps): factor * metric.of_worth(bare.worth) for bare in tried},
        "test_mean": statistics.fmean(theirs),
        "test_std": statistics.stdev(theirs) if len(theirs) > 1 else 0.0,
        "difference": found.difference,
        "standard_error": found.standard_error,
        "runs": len(pairs),
        "verdict": _OPPOSITE.get(found.verdict, found.verdict)
        if metric.lower_is_better
        else found.verdict,
    }


ENOUGH = 5
"""Runs from which on two standard errors are seldom exceeded by chance; with two, in 30 %."""


def difference_in_words(found: Mapping[str, Any]) -> str:
    """Return a paired difference with its standard error, and a tie as a tie.

    Args:
        found: what :func:`against_backbone` returned.
    """
    runs = f"{found['runs']} run{'' if found['runs'] == 1 else 's'}"
    if found["runs"] == 0:
        return "no run with test nodes to compare"
    if found["runs"] == 1:
        return f"{found['difference']:+.2f} over {runs}: too few to tell"
    told = {
        "tie": "a tie, within two standard errors",
        "better": "better than the backbone alone",
        "worse": "worse than the backbone alone",
    }
    spread = f"{found['difference']:+.2f} ± {found['standard_error']:.2f}"
    is_chance = found["verdict"] != "tie" and found["runs"] < ENOUGH
    doubt = f", but so few runs may agree by chance: --runs {2 * ENOUGH}" if is_chance else ""
    return f"{spread} over {runs}: {told[found['verdict']]}{doubt}"
