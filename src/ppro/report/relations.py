"""Step and priority against degree and local homophily."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.explain import ExplainedRun
from ppro.report.figures import Figure, figure, numbers
from ppro.report.measures import FloatArray, degrees, local_homophily, rank_correlation


def relations(run: ExplainedRun) -> list[dict[str, Any]]:
    """Step and priority against degree and local homophily, each with Spearman's ρ."""
    causes = [
        ("degree", degrees(run.graph).astype(np.float64), True),
        ("local homophily", local_homophily(run.graph), False),
    ]
    effects: list[tuple[str, FloatArray]] = []
    if run.explanation.decisions is not None:
        effects.append(("step", run.explanation.steps.numpy().astype(np.float64)))
    if run.explanation.priorities is not None:
        effects.append(("priority", run.explanation.priorities.numpy().astype(np.float64)))
    return [
        {
            "title": f"{effect[0].capitalize()} and {cause[0]}",
            "rho": rank_correlation(cause[1], effect[1]),
            "figure": relation(cause[0], cause[1], effect[0], effect[1], logarithmic=cause[2]),
        }
        for effect in effects
        for cause in causes
    ]


def relation(
    x_name: str, x: FloatArray, y_name: str, y: FloatArray, *, logarithmic: bool
) -> Figure:
    """Nodes counted over a grid, the share of each column as colour, and the mean of each."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    bounds = (degree_bins(x) if logarithmic else np.linspace(0, 1, 11)), _value_bins(y)
    names = _bin_names(bounds[0], whole=logarithmic)
    counts, mean = _counted(bounds, x, y)
    shares = np.where(counts > 0, counts / np.maximum(counts.sum(0), 1), np.nan)
    heat = {
        "type": "heatmap",
        "x": names,
        "y": numbers((bounds[1][:-1] + bounds[1][1:]) / 2),
        "z": [numbers(row, 3) for row in shares],
        "text": counts.tolist(),
        "colorscale": "@sequential",
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hovertemplate": f"{x_name} %{{x}}<br>{y_name} about %{{y}}<br>"
        "%{text} nodes, %{z:.1%} of the column<extra></extra>",
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": names,
        "y": numbers(mean, 4),
        "line": {"color": "@second"},
        "hovertemplate": f"{x_name} %{{x}}: mean {y_name} %{{y}}<extra></extra>",
    }
    categories = {"type": "category", "tickangle": 0, "tickfont": {"size": 10}}
    return figure([heat, line], x_name, y_name, showlegend=False, xaxis=categories)


def _counted(
    bounds: tuple[FloatArray, FloatArray], x: FloatArray, y: FloatArray
) -> tuple[NDArray[np.int64], FloatArray]:
    """Nodes in each cell, rows by y; and the mean of y in each column, NaN without a node."""
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
    """Bounds 0, 1, 2, 3, 5, 9, 17 …: whole numbers, as wide as they are large."""
    top, bounds = float(degree.max(initial=1)), [0.0, 1.0, 2.0]
    while bounds[-1] <= top:
        bounds.append(2 * bounds[-1] - 1 if bounds[-1] > 2 else bounds[-1] + 1)
    kept = bounds if (degree < 1).any() else bounds[1:]
    return np.array(kept)


def _value_bins(y: FloatArray) -> FloatArray:
    """One bin for each step, or 20 even ones for priorities."""
    if y.size and (y == np.round(y)).all() and np.ptp(y) <= 64:
        return np.arange(y.min() - 0.5, y.max() + 1)
    low, high = (np.quantile(y, [0.005, 0.995])) if y.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1e-6, 21)


def _bin_names(bounds: FloatArray, *, whole: bool) -> Sequence[str]:
    if not whole:
        return [f"{a:.1f}–{b:.1f}" for a, b in pairwise(bounds.tolist())]
    ends = bounds.astype(int).tolist()
    return [f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(ends)]
