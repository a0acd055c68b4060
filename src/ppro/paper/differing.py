"""Which of several configurations is taken, where nodes should have steps of their own.

A strategy whose nodes all stop at one step is its backbone with another name. So of what validates
nearly alike, the one is taken whose nodes differ; validation still decides among those.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ppro.data.names import PUBLIC, RANDOM
from ppro.paper.statistics import compare

SHARES = (0.2, 0.1)
"""Nodes differ in their steps where at least the first of these shares is off the most common one;
where nothing close differs so, the second will do."""
TOLERATED, MOST = 0.5, 1.0
"""Points of validation accuracy that steps of their own may cost, or one standard error of the
paired difference where that is more, but never more than the second."""
OVERLAPS = {RANDOM: 20 / 60}
"""Nodes that validate over nodes that train, of splits that every run draws anew from one graph."""


def differs(result: Mapping[str, Any], share: float = SHARES[0]) -> bool:
    """Tell whether the nodes of the runs of a result differ in their steps."""
    return float(result.get("off_common") or 0.0) >= share


def ranked(results: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the places of the results, the best mean validation accuracy first."""
    return sorted(range(len(results)), key=lambda i: -results[i]["val_mean"])


def finalists(results: Sequence[Mapping[str, Any]], number: int) -> list[int]:
    """Return the places of the best, half of them kept for those whose nodes differ."""
    order = ranked(results)
    best = order[: number - number // 2]
    personal = [i for i in order if i not in best and differs(results[i])]
    rest = [i for i in order if i not in best and i not in personal]
    return [*best, *personal, *rest][:number]


def pick(results: Sequence[Mapping[str, Any]], split: str = PUBLIC) -> int:
    """Return the place of the best result whose nodes differ, unless that costs too much.

    Then, or where there is none, it is the place of the best of all.

    Args:
        results: with the validation accuracies of the same runs.
        split: of these runs, where what random ones share is to count.
    """
    order = ranked(results)
    for share in SHARES:
        personal = next((i for i in order if differs(results[i], share)), None)
        if personal is not None and is_close(results[order[0]], results[personal], split):
            return personal
    return order[0]


def corrected_error(error: float, runs: int, split: str) -> float:
    """Return the standard error of a mean over runs that draw their splits from one graph.

    They share most of their nodes, so that more of them tell less than as many graphs would: the
    variance has a part that no number of runs takes away (Nadeau and Bengio, 2003).
    """
    return error * math.sqrt(1 + runs * OVERLAPS.get(split, 0.0))


def is_close(best: Mapping[str, Any], other: Mapping[str, Any], split: str) -> bool:
    """Tell whether a result validates nearly as well as a better one."""
    if best is other:
        return True
    found, runs = compare(best["val"], other["val"]), len(best["val"])
    spread = corrected_error(found.standard_error, runs, split) if runs > 1 else 0.0
    return found.difference <= min(MOST, max(TOLERATED, spread))
