"""Convergence: validation accuracy by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.paper.cells import Cell
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.store import Store
from ppro.paper.tables import paper_split
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASETS = ("cora", "chameleon")
STRATEGIES = ("l2b", "l2u")
EPOCHS = 200
NEAR = 1.0
"""Points below the best mean within which a strategy counts as converged."""
SHOWN = 40.0
"""Points below the best mean of a graph where its panel ends: the rest is the first few epochs."""

_TEXT = (
    f"Validation accuracy by epoch, mean and standard deviation over the runs; {EPOCHS} epochs, no "
    "early stopping, both strategies on the same splits. The table says after how many epochs the "
    f"mean first comes within {NEAR:.0f} point of its best. The first epochs lie below the panels."
)


def _cell(dataset: str, strategy: str) -> Cell:
    # Patience as long as the training: no run stops before the others.
    changes = {"epochs": EPOCHS, "patience": EPOCHS}
    return Cell(dataset, paper_split(dataset), strategy, changes, keep="curves")


def cells() -> list[Cell]:
    """Return both strategies on both graphs."""
    return [_cell(dataset, strategy) for dataset in DATASETS for strategy in STRATEGIES]


def _curves(dataset: str, strategy: str, store: Store) -> NDArray[np.float64] | None:
    """Shape ``[R, epochs]``."""
    record = store.one(_cell(dataset, strategy).place)
    return None if record is None else np.array(record["curves"], dtype=np.float64)


def converged_after(mean: NDArray[np.float64]) -> int:
    """Return the first epoch, counted from 1, that is near the best one."""
    return int(np.argmax(mean >= np.nanmax(mean) - NEAR)) + 1


def draw(store: Store) -> Drawing | None:
    """Draw one panel for each graph."""
    found = {(d, s): _curves(d, s, store) for d in DATASETS for s in STRATEGIES}
    known = {key: curves for key, curves in found.items() if curves is not None}
    if not known:
        return None
    figure, axes = style.panels(1, len(DATASETS), 2.6)
    rows = []
    for panel, dataset in zip(axes, DATASETS, strict=True):
        shown = {s: known[dataset, s] for s in STRATEGIES if (dataset, s) in known}
        for strategy, curves in shown.items():
            _series(panel, curves, strategy)
            rows.append(_row(dataset, strategy, curves))
        if shown:
            top = max(float(np.nanmax(curves.mean(0))) for curves in shown.values())
            panel.set_ylim(max(0.0, top - SHOWN), min(100.0, top + 5))
        else:
            style.not_measured(panel)
        panel.set_title(dataset_info(dataset).title)
        panel.set_xlabel("epoch")
    axes[0].set_ylabel("validation accuracy, %")
    style.legend_below(figure, len(STRATEGIES))
    head = ["graph", "strategy", "best mean", "epochs to come near it"]
    return Drawing(figure, f"{_TEXT}\n\n{markdown_table(head, rows)}")


def _series(panel: Axes, curves: NDArray[np.float64], strategy: str) -> None:
    line: dict[str, Any] = dict(style.SERIES[strategy])
    mean, spread = curves.mean(0), curves.std(0)
    epochs = np.arange(1, mean.size + 1)
    panel.fill_between(
        epochs, mean - spread, mean + spread, color=line["color"], alpha=0.18, linewidth=0
    )
    # Marks of the two strategies stand at different epochs: neither hides the other.
    every = max(2, mean.size // 8)
    first = every if strategy == STRATEGIES[0] else every // 2
    panel.plot(epochs, mean, label=find_method(strategy).title, markevery=(first, every), **line)


def _row(dataset: str, strategy: str, curves: NDArray[np.float64]) -> list[str]:
    mean = curves.mean(0)
    titles = dataset_info(dataset).title, find_method(strategy).title
    return [*titles, f"{np.nanmax(mean):.1f}", str(converged_after(mean))]


CONVERGENCE = FigureSpec("convergence", "Convergence", cells, draw)
