"""Training curves: mean and spread over the runs, and the run that is shown."""

from typing import Any

import numpy as np

from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import FloatArray
from ppro.insight.report.figures import Figure, figure, line, numbers
from ppro.training.metrics import Metric, shown_metrics

MAX_POINTS = 400
"""Epochs that a curve shows; longer trainings are thinned out evenly."""


def training_curves(run: ExplainedRun) -> list[dict[str, Any]]:
    """Return charts of validation scores, losses and, where steps are chosen, their mean."""
    metrics, index = run.saved.metrics(), run.index
    charts: list[tuple[str, Figure]] = []
    for metric in shown_metrics(run.config.settings.training.metric):
        values = metrics["val_accuracy" if metric.is_accuracy else "val_score"]
        charts.append((f"Validation {metric.title}", _scores(values, index, metric)))
    charts.append(("Loss", _losses(metrics, index)))
    if run.explanation.chosen and "mean_step" in metrics:
        charts.append(("Mean step", _plain_curve(metrics["mean_step"], index, "mean step")))
    return [{"title": title, "figure": drawn} for title, drawn in charts]


def _scores(values: FloatArray, run: int, metric: type[Metric]) -> Figure:
    """Draw from where the first epochs are over: they would press the rest of the curve flat."""
    factor, unit = (100, ", %") if metric.percent else (1, "")
    shown = _plain_curve(factor * values, run, f"validation {metric.title}{unit}")
    if np.isfinite(values).any():
        low, high = factor * np.nanquantile(values, [0.03, 1.0])
        room = 2 if metric.percent else 0.05 * (high - low)
        shown["layout"]["yaxis"]["range"] = [float(low) - room, float(high) + room / 2]
    return shown


def _plain_curve(values: FloatArray, run: int, name: str) -> Figure:
    return figure([*_band(values), _line(values[:, run], f"run {run}", "@second")], "epoch", name)


def _losses(metrics: dict[str, FloatArray], run: int) -> Figure:
    lines = [
        _line(metrics["train_loss"][:, run], "training", "@second"),
        _line(metrics["val_loss"][:, run], "validation", "@accent"),
    ]
    return figure(lines, "epoch", f"loss of run {run}")


def _band(values: FloatArray) -> list[dict[str, Any]]:
    """Return mean and standard deviation over the runs still training; none for a single run."""
    if values.shape[1] < 2:
        return []
    measured = np.isfinite(values).any(1)
    mean, spread = (np.full(len(values), np.nan) for _ in range(2))
    mean[measured], spread[measured] = (of(values[measured], 1) for of in (np.nanmean, np.nanstd))
    low = _line(mean - spread, "low", "@none") | {"showlegend": False, "hoverinfo": "skip"}
    filled = {"fill": "tonexty", "fillcolor": "@band", "hoverinfo": "skip"}
    high = _line(mean + spread, "± one std", "@none") | filled
    return [low, high, _line(mean, "mean of runs still training", "@accent")]


def _line(values: FloatArray, name: str, colour: str) -> dict[str, Any]:
    # Not every training validates in every epoch.
    measured = np.flatnonzero(np.isfinite(values))
    kept = measured[:: max(1, -(-len(measured) // MAX_POINTS))]
    points = (kept + 1).tolist(), numbers(values[kept])
    return line(*points, colour, name, line={"width": 0 if colour == "@none" else 1.5})
