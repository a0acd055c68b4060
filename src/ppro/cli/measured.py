"""What predictions are worth, for a reader: other metrics, classes, and what to do about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ppro.cli.console import aligned, count

MOST_ROWS, MOST_COLUMNS = 20, 8
"""Classes up to which a table has a row for each, and a column for each beside."""
LONGEST = 24
"""Characters of a class's name in a table."""


def other_metrics(facts: Mapping[str, Any]) -> str:
    """Return a line with the metrics of the test nodes that are not told elsewhere, or nothing."""
    from ppro.parts import METRICS

    part = facts.get("told_of", "test")
    found = facts.get("metrics", {}).get(part, {})
    told = {"accuracy", facts.get("metric")}
    words = [
        f"{METRICS.get(name).title} {METRICS.get(name).shown(values['mean'])}"
        for name, values in found.items()
        if name not in told and not math.isnan(values["mean"])
    ]
    return f"other {_nodes(part)} metrics: {', '.join(words)}" if words else ""


def class_table(facts: Mapping[str, Any]) -> str:
    """Return how well each class is found and, of a few, what it is taken for; empty of many."""
    rows, counts = facts.get("classes") or [], facts.get("confusion")
    if not 0 < len(rows) <= MOST_ROWS or not sum(row["nodes"] for row in rows):
        return ""
    names = [_short(row["name"]) for row in rows]
    head = ["class", "precision", "recall", "F1", "nodes"]
    shares = ("precision", "recall", "f1")
    cells = [
        [name, *(f"{100 * row[key]:.1f} %" for key in shares), f"{row['nodes']:,}"]
        for name, row in zip(names, rows, strict=True)
    ]
    if counts is not None and len(rows) <= MOST_COLUMNS:
        head += [f"as {name}" for name in names]
        cells = [[*row, *map(str, beside)] for row, beside in zip(cells, counts, strict=True)]
    lines = aligned([head, *cells], right=range(1, len(head))).splitlines()
    return "\n".join(f"  {line}" for line in lines)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def title_of_classes(facts: Mapping[str, Any]) -> str:
    """Return what the table of the classes is about."""
    runs = facts.get("runs", 1)
    pooled = "" if runs == 1 else f", {count(runs, 'run')} together"
    return f"classes on the {_nodes(facts['told_of'])} nodes{pooled}"


def _nodes(part: str) -> str:
    return "validation" if part == "val" else part


def advice(facts: Mapping[str, Any], *, weighted: bool) -> list[str]:
    """Return warnings about a result, each with a remedy.

    Args:
        weighted: whether the classes have weights already.
    """
    from ppro.training.verdicts import is_rare, verdicts

    lines = verdicts(facts)
    if not lines:
        return []
    rare, metric = is_rare(facts), facts.get("metric")
    better = "average-precision" if rare else "macro-f1"
    tips = []
    if metric == "accuracy":
        tips.append(f"--metric {better} selects epochs and settings by it")
    if not weighted:
        tips.append("--class-weight balanced makes rare classes count")
    if rare:
        tips.append("'ppro predict --threshold best' takes the threshold with the best F1")
    return [*lines[:-1], "; ".join([lines[-1], *([", ".join(tips)] if tips else [])])]
