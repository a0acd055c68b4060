"""The charts of a report as plotly figures.

A figure may hold ``narrow``: changes of its layout where there is little room. A colour that begins
with ``@`` is a name that the page looks up in its theme, light or dark. Plotly reads a little
markup in texts, so every text of the user goes through :func:`plain`.
"""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import FloatArray

Figure = dict[str, Any]

LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}

LONGEST = 24
"""Characters of a name that a chart shows."""


def plain(text: str) -> str:
    """Return a user's text, shortened, in which plotly finds no markup."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return html.escape(short, quote=False)


def figure(data: list[dict[str, Any]], x: str, y: str, **layout: Any) -> Figure:
    """Return traces under two axis titles."""
    axes = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
    for axis in axes:
        axes[axis] |= layout.pop(axis, {})
    return {"data": data, "layout": {**axes, **layout}}


def step_axis(last: int) -> dict[str, Any]:
    """Return an axis of steps: ticks at whole numbers, about eight of them."""
    return {"tick0": 0, "dtick": max(1, -(-last // 8))}


def numbers(values: NDArray[Any], digits: int = 5) -> list[Any]:
    """Return values rounded to a few digits, to keep the file small."""
    return [None if not np.isfinite(v) else float(f"{v:.{digits}g}") for v in values.tolist()]


def line(x: list[Any], y: list[Any], colour: str, name: str = "", **more: Any) -> dict[str, Any]:
    """Return a trace that joins points."""
    style = {"color": colour, **more.pop("line", {})}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": style, **more}


def bars(x: list[Any], y: list[Any], colour: str, hover: str, **more: Any) -> dict[str, Any]:
    """Return a trace of bars."""
    shown = {"marker": {"color": colour}, "hovertemplate": f"{hover}<extra></extra>"}
    return {"type": "bar", "x": x, "y": y, **shown, **more}


def heatmap(
    x: Sequence[Any], y: Sequence[Any], counts: NDArray[Any], shares: FloatArray, hover: str
) -> dict[str, Any]:
    """Return a trace of cells: shares from 0 to 1 as colour, counts as text."""
    cells = {"x": x, "y": y, "z": [numbers(row, 3) for row in shares], "text": counts.tolist()}
    scale = {"colorscale": "@sequential", "zmin": 0, "zmax": 1, "showscale": False}
    return {"type": "heatmap", **cells, **scale, "hovertemplate": f"{hover}<extra></extra>"}


def confusion(run: ExplainedRun) -> Figure:
    """Draw test nodes by label and prediction; shares of a label's nodes give the colour.

    Those of all runs together, or of one run of an older version.
    """
    numbered = [str(i) for i in range(run.graph.num_classes)]
    named = [plain(name) for name in run.graph.class_names]
    names = [a if named == numbered else f"{a} {b}" for a, b in zip(named, numbered, strict=True)]
    counts, size = _counts(run, len(names)), len(names)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    hover = "label %{y}<br>predicted %{x}<br>%{text} nodes, %{z:.1%}"
    trace = heatmap(numbered, names, counts, shares, hover) | {"xgap": 2, "ygap": 2}
    if size <= 12:
        trace["texttemplate"] = "%{text}"
    across = {"type": "category", "tickangle": 0}
    down = {"type": "category", "autorange": "reversed", "automargin": True}
    drawn = figure([trace], "predicted", "", yaxis=down, xaxis=across)
    axis = drawn["layout"]["yaxis"]
    return {**drawn, "narrow": {"yaxis": {**axis, "tickvals": names, "ticktext": numbered}}}


def _counts(run: ExplainedRun, size: int) -> NDArray[np.int64]:
    """Return test nodes by label and predicted class. Shape ``[c, c]``."""
    if (known := run.saved.facts.get("confusion")) is not None:
        return np.array(known, dtype=np.int64)
    chosen = tested(run)
    labels, predicted = run.graph.labels.numpy()[chosen], run.explanation.predicted.numpy()[chosen]
    found: NDArray[np.int64] = np.bincount(labels * size + predicted, minlength=size**2)
    return found.reshape(size, size)


def tested(run: ExplainedRun) -> NDArray[np.bool_]:
    """Tell which nodes are for testing and have a label."""
    found: NDArray[np.bool_] = (run.splits.test[run.index] & (run.graph.labels >= 0)).numpy()
    return found


def steps_histogram(run: ExplainedRun) -> Figure:
    """Draw how many nodes stopped at each step, right and wrong ones apart."""
    steps, last = run.explanation.steps.numpy(), run.explanation.last_step
    labels = run.graph.labels.numpy()
    right, known = run.explanation.predicted.numpy() == labels, labels >= 0
    groups = [("right", right & known, "@right"), ("wrong", ~right & known, "@wrong")]
    if not known.all():
        groups.append(("no label", ~known, "@muted"))
    ticks = list(range(last + 1))
    drawn = [
        bars(
            ticks,
            np.bincount(steps[chosen], minlength=last + 1).tolist(),
            colour,
            f"step %{{x}}: %{{y}} nodes {name}",
            name=name,
        )
        for name, chosen, colour in groups
    ]
    axis = step_axis(last)
    return figure(drawn, "step", "nodes", barmode="stack", legend=LEGEND, xaxis=axis)


def accuracy_by_step(run: ExplainedRun) -> Figure:
    """Draw the test accuracy had every node stopped at step k, and with the steps they chose."""
    chosen, last = tested(run), run.explanation.last_step
    labels = run.graph.labels.numpy()[chosen]
    hits = run.explanation.by_step.numpy()[chosen] == labels[:, None]
    own = run.explanation.predicted.numpy()[chosen] == labels
    at_k, at_own = 100 * hits.mean(0), 100 * float(own.mean())
    ticks, both, dash = list(range(last + 1)), np.array([at_own, at_own]), {"dash": "dash"}
    traces = [
        line(ticks, numbers(at_k, 4), "@accent", "every node stops at k", mode="lines+markers"),
        line([0, last], numbers(both, 4), "@second", "each node at its own step", line=dash),
    ]
    return figure(traces, "step k", "test accuracy, %", xaxis=step_axis(last))


def priorities_histogram(priorities: FloatArray) -> Figure:
    """Draw how the priorities spread over the nodes."""
    counts, edges = np.histogram(priorities, bins=40)
    middle, hover = numbers((edges[:-1] + edges[1:]) / 2), "priority %{x:.3f}: %{y} nodes"
    bar = bars(middle, counts.tolist(), "@accent", hover, width=float(edges[1] - edges[0]))
    return figure([bar], "priority w", "nodes", bargap=0.05)
