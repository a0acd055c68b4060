"""Sensitivity: accuracy of L2B as λ1, λ2 and ε vary, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.paper.cells import Cell
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.store import Store
from ppro.paper.tables import paper_split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASETS = ("cora", "citeseer", "pubmed")
METHOD = "l2b"
RANGES: dict[str, tuple[float, ...]] = {
    "lambda1": (0.01, 0.1, 1.0, 10.0, 100.0),
    "lambda2": (0.01, 0.1, 1.0, 10.0, 100.0),
    "epsilon": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}
"""The paper's search space."""

_SYMBOLS = {"lambda1": "λ1", "lambda2": "λ2", "epsilon": "ε"}
_LOOKS: dict[str, dict[str, Any]] = {
    "cora": {"color": style.BLUE, "marker": "o", "linestyle": "-"},
    "citeseer": {"color": style.ORANGE, "marker": "s", "linestyle": "--"},
    "pubmed": {"color": style.GREEN, "marker": "^", "linestyle": ":"},
}

_TEXT = (
    "Test accuracy of L2B in percent, mean and standard deviation over the runs, as one setting "
    "varies over the paper's range and the others stay as chosen on validation accuracy. A white "
    "mark: the value that was chosen."
)

Series = dict[float, dict[str, Any]]


def _cell(dataset: str, key: str, value: float) -> Cell:
    return Cell(dataset, paper_split(dataset), METHOD, {key: value})


def cells() -> list[Cell]:
    """Every value of every setting on every graph."""
    return [_cell(d, key, v) for d in DATASETS for key in RANGES for v in RANGES[key]]


def _series(dataset: str, key: str, store: Store) -> Series:
    found = {value: store.one(_cell(dataset, key, value).place) for value in RANGES[key]}
    return {value: record for value, record in found.items() if record is not None}


def _chosen_value(series: dict[tuple[str, str], Series], dataset: str, key: str) -> float | None:
    """The value of a setting where another one varies."""
    for (name, other), found in series.items():
        if name == dataset and other != key:
            for record in found.values():
                return float(record["settings"][key])
    return None


def draw(store: Store) -> Drawing | None:
    """One panel for each setting."""
    series = {(d, key): _series(d, key, store) for d in DATASETS for key in RANGES}
    if not any(series.values()):
        return None
    figure, axes = style.panels(1, len(RANGES), 2.6, sharey=True)
    for panel, key in zip(axes, RANGES, strict=True):
        for dataset in DATASETS:
            if series[dataset, key]:
                value = _chosen_value(series, dataset, key)
                _line(panel, dataset, series[dataset, key], value)
        panel.set_xlabel(_SYMBOLS[key])
        if key != "epsilon":
            panel.set_xscale("log")
    axes[0].set_ylabel("test accuracy, %")
    style.legend_below(figure, len(DATASETS))
    return Drawing(figure, f"{_TEXT}\n\n{_table(series)}")


def _line(panel: Axes, dataset: str, found: Series, chosen: float | None) -> None:
    means = {value: record["test_mean"] for value, record in found.items()}
    spreads = [record["test_std"] for record in found.values()]
    panel.errorbar(
        list(means),
        list(means.values()),
        yerr=spreads,
        label=dataset_info(dataset).title,
        elinewidth=0.8,
        **_LOOKS[dataset],
    )
    if chosen in means:
        look = {**_LOOKS[dataset], "markerfacecolor": "white", "markersize": 6.5, "zorder": 4}
        panel.plot([chosen], [means[chosen]], **look)


def _table(series: dict[tuple[str, str], Series]) -> str:
    """The span of the means: what a bad choice can cost."""
    rows = []
    for (dataset, key), found in series.items():
        if found:
            by_mean = sorted(found, key=lambda value: float(found[value]["test_mean"]))
            ends = [f"{found[v]['test_mean']:.1f} at {v:g}" for v in (by_mean[0], by_mean[-1])]
            rows.append([dataset_info(dataset).title, _SYMBOLS[key], *ends])
    return markdown_table(["graph", "setting", "lowest mean", "highest mean"], rows)


SENSITIVITY = FigureSpec("sensitivity", "Sensitivity to λ1, λ2 and ε", cells, draw)
