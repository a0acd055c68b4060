"""Training curves from ``metrics.jsonl``: mean and spread over the runs, and the shown run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ppro.errors import RunError
from ppro.insight.report.figures import Figure, figure, numbers
from ppro.insight.report.measures import FloatArray

MAX_POINTS = 400
"""Epochs that a curve shows; longer trainings are thinned out evenly."""


def read_metrics(folder: Path) -> dict[str, FloatArray]:
    """Every metric by epoch and run; NaN after a run has stopped. Shapes ``[epochs, R]``.

    Raises:
        RunError: the file is missing or damaged.
    """
    path = folder / "metrics.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return _columns(rows)
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


def _columns(rows: list[dict[str, Any]]) -> dict[str, FloatArray]:
    epochs = max((row["epoch"] for row in rows), default=0)
    runs = 1 + max((row["run"] for row in rows), default=0)
    names = [name for name in (rows[0] if rows else {}) if name not in ("epoch", "run")]
    table = {name: np.full((epochs, runs), np.nan) for name in names}
    for row in rows:
        for name in names:
            value = row[name]
            table[name][row["epoch"] - 1, row["run"]] = np.nan if value is None else value
    return table


def training_curves(
    metrics: dict[str, FloatArray], run: int, *, steps: bool
) -> list[dict[str, Any]]:
    """Charts of validation accuracy, losses and, where steps are learned, their mean."""
    charts: list[tuple[str, Figure]] = [
        ("Validation accuracy", _accuracy(metrics, run)),
        ("Loss", _losses(metrics, run)),
    ]
    if steps and "mean_step" in metrics:
        charts.append(("Mean step", _plain_curve(metrics["mean_step"], run, "mean step")))
    return [{"title": title, "figure": drawn} for title, drawn in charts]


def _accuracy(metrics: dict[str, FloatArray], run: int) -> Figure:
    """From where the first epochs are over: they would press the rest of the curve flat."""
    values = 100 * metrics["val_accuracy"]
    low, high = np.nanquantile(values, [0.03, 1.0]) if values.size else (0.0, 100.0)
    shown = _plain_curve(values, run, "validation accuracy, %")
    shown["layout"]["yaxis"]["range"] = [float(low) - 2, float(high) + 1]
    return shown


def _plain_curve(values: FloatArray, run: int, name: str) -> Figure:
    return figure([*_band(values), _of_run(values, run)], "epoch", name)


def _losses(metrics: dict[str, FloatArray], run: int) -> Figure:
    lines = [
        _line(metrics["train_loss"][:, run], "training", "@second"),
        _line(metrics["val_loss"][:, run], "validation", "@accent"),
    ]
    return figure(lines, "epoch", f"loss of run {run}")


def _band(values: FloatArray) -> list[dict[str, Any]]:
    """Mean and standard deviation over the runs still training; nothing for a single run."""
    if values.shape[1] < 2:
        return []
    active = np.isfinite(values).sum(1)
    values = values[active > 0]
    mean, spread = np.nanmean(values, 1), np.nanstd(values, 1)
    low = _line(mean - spread, "low", "@none") | {"showlegend": False, "hoverinfo": "skip"}
    high = _line(mean + spread, "± one std", "@none") | {
        "fill": "tonexty",
        "fillcolor": "@band",
        "hoverinfo": "skip",
    }
    return [low, high, _line(mean, "mean of runs still training", "@accent")]


def _of_run(values: FloatArray, run: int) -> dict[str, Any]:
    return _line(values[:, run], f"run {run}", "@second")


def _line(values: FloatArray, name: str, colour: str) -> dict[str, Any]:
    stride = max(1, -(-len(values) // MAX_POINTS))
    kept = np.arange(0, len(values), stride)
    kept = kept[np.isfinite(values[kept])]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": (kept + 1).tolist(),
        "y": numbers(values[kept]),
        "line": {"color": colour, "width": 0 if colour == "@none" else 1.5},
    }
