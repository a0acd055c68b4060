"""Step and priority against degree and local homophily."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import FloatArray, degrees, local_homophily, rank_correlation
from ppro.insight.report.figures import Figure, figure, heatmap, line, numbers, step_axis


def relations(run: ExplainedRun) -> list[dict[str, Any]]:
    """Draw step and priority against degree and local homophily, each with Spearman's ρ."""
    causes = [
        ("degree", degrees(run.graph).astype(np.float64), True),
        ("local homophily", local_homophily(run.graph), False),
    ]
    return [
        {
            "title": f"{effect.name.capitalize()} and {cause[0]}",
            "rho": rank_correlation(cause[1], effect.values),
            "figure": relation(cause[0], cause[1], effect, logarithmic=cause[2]),
        }
        for effect in _effects(run)
        for cause in causes
    ]


@dataclass(frozen=True, eq=False)
class Effect:
    """What a relation explains: a value for each node, the bounds to count it in, an axis."""

    name: str
    values: FloatArray
    bounds: FloatArray
    axis: dict[str, Any]


def _effects(run: ExplainedRun) -> list[Effect]:
    found, effects = run.explanation, []
    if found.chosen:
        last = found.last_step
        # The whole axis, also where all nodes took one step.
        bounds = np.arange(last + 2, dtype=np.float64) - 0.5
        axis = {**step_axis(last), "range": [-0.5, last + 0.5]}
        effects.append(Effect("step", found.steps.double().numpy(), bounds, axis))
    if found.priorities is not None:
        values = found.priorities.double().numpy()
        effects.append(Effect("priority", values, _priority_bins(values), {}))
    return effects


def relation(x_name: str, x: FloatArray, effect: Effect, *, logarithmic: bool) -> Figure:
    """Draw nodes counted over a grid, the share of each column as colour, and the mean of each."""
    y_name, y = effect.name, effect.values
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    bounds = (degree_bins(x) if logarithmic else np.linspace(0, 1, 11)), effect.bounds
    names = _bin_names(bounds[0], whole=logarithmic)
    counts, mean = _counted(bounds, x, y)
    shares = np.where(counts > 0, counts / np.maximum(counts.sum(0), 1), np.nan)
    hover = f"{x_name} %{{x}}<br>{y_name} about %{{y}}<br>%{{text}} nodes, %{{z:.1%}} of the column"
    middle = numbers((bounds[1][:-1] + bounds[1][1:]) / 2)
    heat = heatmap(names, middle, counts, shares, hover)
    told = f"{x_name} %{{x}}: mean {y_name} %{{y}}<extra></extra>"
    style: Any = {"mode": "lines+markers", "hovertemplate": told}
    means = line(list(names), numbers(mean, 4), "@second", **style)
    categories = {"type": "category", "tickangle": 0, "tickfont": {"size": 10}}
    axes: Any = {"xaxis": categories, "yaxis": effect.axis}
    drawn = figure([heat, means], x_name, y_name, showlegend=False, **axes)
    return {**drawn, "narrow": {"xaxis": {**drawn["layout"]["xaxis"], "dtick": 2}}}


def _counted(
    bounds: tuple[FloatArray, FloatArray], x: FloatArray, y: FloatArray
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return nodes in each cell, rows by y; and the mean of y in each column, NaN without any."""
    column, row = (
        np.clip(np.searchsorted(b, v, side="right") - 1, 0, len(b) - 2)
        for b, v in zip(bounds, (x, y), strict=True)
    )
    width, height = (len(b) - 1 for b in bounds)
    counts = np.bincount(row * width + column, minlength=width * height).reshape(height, width)
    total = counts.sum(0)
    sums = np.bincount(column, weights=y, minlength=width)
    return counts, sums / np.where(total > 0, total, np.nan)


def degree_bins(degree: FloatArray) -> FloatArray:
    """Return bounds 0, 1, 2, 3, 5, 9, 17 …: whole numbers, as wide as they are large."""
    top, bounds = float(degree.max(initial=1)), [0.0, 1.0, 2.0]
    while bounds[-1] <= top:
        bounds.append(2 * bounds[-1] - 1 if bounds[-1] > 2 else bounds[-1] + 1)
    kept = bounds if (degree < 1).any() else bounds[1:]
    return np.array(kept)


def _priority_bins(y: FloatArray) -> FloatArray:
    """Return bounds of 20 even bins that a few extreme values do not stretch."""
    low, high = (np.quantile(y, [0.005, 0.995])) if y.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1e-6, 21)


def _bin_names(bounds: FloatArray, *, whole: bool) -> Sequence[str]:
    if not whole:
        return [f"{a:.1f}–{b:.1f}" for a, b in pairwise(bounds.tolist())]
    ends = bounds.astype(int).tolist()
    return [f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(ends)]
