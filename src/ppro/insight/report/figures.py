"""The charts of a report as plotly figures.

A figure may hold ``narrow``: changes of its layout where there is little room. A colour that begins
with ``@`` is a name that the page looks up in its theme, light or dark. Plotly reads a little
markup in texts, so every text of the user goes through :func:`plain`.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.insight.explain import ExplainedRun
from ppro.insight.report.measures import FloatArray

Figure = dict[str, Any]

LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}

LONGEST = 24
"""Characters of a name that a chart shows."""


def plain(text: str) -> str:
    """A user's text, shortened, in which plotly finds no markup."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return html.escape(short, quote=False)


def figure(data: list[dict[str, Any]], x: str, y: str, **layout: Any) -> Figure:
    """Traces under two axis titles."""
    axes = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
    for axis in axes:
        axes[axis] |= layout.pop(axis, {})
    return {"data": data, "layout": {**axes, **layout}}


def step_axis(last: int) -> dict[str, Any]:
    """An axis of steps: ticks at whole numbers, about eight of them."""
    return {"tick0": 0, "dtick": max(1, -(-last // 8))}


def numbers(values: NDArray[Any], digits: int = 5) -> list[Any]:
    """Rounded to a few digits, to keep the file small."""
    return [None if not np.isfinite(v) else float(f"{v:.{digits}g}") for v in values.tolist()]


def confusion(run: ExplainedRun) -> Figure:
    """Test nodes by label and prediction; shares of a label's nodes give the colour."""
    numbered = [str(i) for i in range(run.graph.num_classes)]
    named = [plain(name) for name in run.graph.class_names]
    names = (
        numbered
        if named == numbered
        else [f"{a} {b}" for a, b in zip(named, numbered, strict=True)]
    )
    chosen = (run.splits.test[run.index] & (run.graph.labels >= 0)).numpy()
    labels, size = run.graph.labels.numpy()[chosen], len(names)
    predicted = run.explanation.predicted.numpy()[chosen]
    counts = np.bincount(labels * size + predicted, minlength=size**2).reshape(size, size)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    trace = {
        "type": "heatmap",
        "z": [numbers(row, 3) for row in shares],
        "text": counts.tolist(),
        "x": numbered,
        "y": names,
        "colorscale": "@sequential",
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
        "hovertemplate": "label %{y}<br>predicted %{x}<br>%{text} nodes, %{z:.1%}<extra></extra>",
    }
    if size <= 12:
        trace["texttemplate"] = "%{text}"
    across = {"type": "category", "tickangle": 0}
    down = {"type": "category", "autorange": "reversed", "automargin": True}
    drawn = figure([trace], "predicted", "", yaxis=down, xaxis=across)
    drawn["narrow"] = {
        "yaxis": {**drawn["layout"]["yaxis"], "tickvals": names, "ticktext": numbered}
    }
    return drawn


def steps_histogram(run: ExplainedRun) -> Figure:
    """How many nodes stopped at each step, right and wrong ones apart."""
    steps, last = run.explanation.steps.numpy(), run.explanation.last_step
    labels = run.graph.labels.numpy()
    right = run.explanation.predicted.numpy() == labels
    groups = [
        ("right", right & (labels >= 0), "@right"),
        ("wrong", ~right & (labels >= 0), "@wrong"),
    ]
    if (labels < 0).any():
        groups.append(("no label", labels < 0, "@muted"))
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": list(range(last + 1)),
            "y": np.bincount(steps[chosen], minlength=last + 1).tolist(),
            "marker": {"color": colour},
            "hovertemplate": f"step %{{x}}: %{{y}} nodes {name}<extra></extra>",
        }
        for name, chosen, colour in groups
    ]
    axis = step_axis(last)
    return figure(bars, "step", "nodes", barmode="stack", legend=LEGEND, xaxis=axis)


def accuracy_by_step(run: ExplainedRun) -> Figure:
    """Test accuracy had every node stopped at step k, beside that of the steps they chose."""
    labels = run.graph.labels.numpy()
    chosen = (run.splits.test[run.index] & (run.graph.labels >= 0)).numpy()
    hits = run.explanation.by_step.numpy()[chosen] == labels[chosen, None]
    own = run.explanation.predicted.numpy()[chosen] == labels[chosen]
    last = hits.shape[1] - 1
    at_k, at_own = 100 * hits.mean(0), 100 * float(own.mean()) if own.size else np.nan
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "every node stops at k",
            "x": list(range(last + 1)),
            "y": numbers(at_k, 4),
            "line": {"color": "@accent"},
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "each node at its own step",
            "x": [0, last],
            "y": numbers(np.array([at_own, at_own]), 4),
            "line": {"color": "@second", "dash": "dash"},
        },
    ]
    return figure(traces, "step k", "test accuracy, %", xaxis=step_axis(last))


def priorities_histogram(priorities: FloatArray) -> Figure:
    """How the priorities spread over the nodes."""
    counts, edges = np.histogram(priorities, bins=40)
    bar = {
        "type": "bar",
        "x": numbers((edges[:-1] + edges[1:]) / 2),
        "y": counts.tolist(),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": "@accent"},
        "hovertemplate": "priority %{x:.3f}: %{y} nodes<extra></extra>",
    }
    return figure([bar], "priority w", "nodes", bargap=0.05)
