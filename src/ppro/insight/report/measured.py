"""The tables of a report that say what predictions are worth: every metric, and every class."""

import math
from typing import Any

from ppro.insight.explain import ExplainedRun
from ppro.parts import METRICS
from ppro.training.metrics import Metric

NAMES = {"val": "validation", "test": "test"}


def measured_data(run: ExplainedRun) -> dict[str, Any]:
    """Return the tables; each is None for runs of older versions."""
    facts = run.saved.facts
    runs = run.config.runs
    pooled = "" if runs == 1 else f" of all {runs} runs together"
    part = NAMES[facts.get("told_of", "test")]
    told = part.capitalize() + f" nodes{pooled}" if "classes" in facts else "Test nodes"
    return {"metrics": _metrics(facts, runs), "classes": _classes(facts), "told": told}


def _metrics(facts: dict[str, Any], runs: int) -> dict[str, Any] | None:
    found = facts.get("metrics")
    if not found:
        return None
    rows = []
    for name in found["test"]:
        metric: type[Metric] = METRICS.get(name)
        rows.append([_title(metric), *(_cell(metric, found[p][name], runs) for p in found)])
    return {"head": ["metric", *(NAMES[part] for part in found)], "rows": rows}


def _title(metric: type[Metric]) -> str:
    return f"{metric.title} (less is better)" if metric.lower_is_better else metric.title


def _cell(metric: type[Metric], values: dict[str, float | None], runs: int) -> str:
    mean = values["mean"]
    if mean is None or math.isnan(mean):
        return "–"
    return metric.shown(mean, None if runs == 1 else values["std"])


def _classes(facts: dict[str, Any]) -> dict[str, Any] | None:
    rows = facts.get("classes")
    if not rows:
        return None
    shares = ("precision", "recall", "f1")
    cells = [
        [row["name"], *(f"{100 * row[key]:.1f} %" for key in shares), f"{row['nodes']:,}"]
        for row in rows
    ]
    return {"head": ["class", "precision", "recall", "F1", "nodes"], "rows": cells}
