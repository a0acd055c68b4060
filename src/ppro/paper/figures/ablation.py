"""Ablation: PPro without each of its parts."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.paper.cells import Cell
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.statistics import compare, mean_and_spread
from ppro.paper.store import Store
from ppro.paper.tables import paper_split
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASETS = ("cora", "citeseer", "chameleon")
STRATEGIES = ("l2b", "l2u")
VARIANTS: dict[str, Mapping[str, Any]] = {
    "full": {},
    "-nl": {"use_step": False},
    "-nz": {"use_priority": False},
    "-nw": {"use_weighting": False},
    "-np": {"use_propagation": False},
}

_TEXT = (
    "Test accuracy in percent, mean ± standard deviation over the runs. -nl: the weight controller "
    "does not see the step; -nz: the propagation controller does not see the priority measures; "
    "-nw: no weight controller; -np: no propagation controller. Every variant is trained at the "
    "settings that were chosen for the full method. The line marks the full method; * stands where "
    "a variant differs from it by more than two standard errors, paired over splits and seeds."
)

Results = dict[str, dict[str, Any]]


def _cell(dataset: str, strategy: str, variant: str) -> Cell:
    return Cell(dataset, paper_split(dataset), strategy, VARIANTS[variant])


def cells() -> list[Cell]:
    """Return every variant on every graph."""
    return [_cell(d, s, v) for d in DATASETS for s in STRATEGIES for v in VARIANTS]


def _results(dataset: str, strategy: str, store: Store) -> Results:
    found = {v: store.one(_cell(dataset, strategy, v).place) for v in VARIANTS}
    return {variant: record for variant, record in found.items() if record is not None}


def notable(results: Results, variant: str) -> bool:
    """Tell whether a variant differs from the full method beyond noise."""
    full = results.get("full")
    if variant == "full" or full is None or full["runs"] != results[variant]["runs"]:
        return False
    return compare(results[variant]["test"], full["test"]).verdict in ("better", "worse")


def draw(store: Store) -> Drawing | None:
    """Draw one panel for each graph, one row in it for each variant."""
    results = {(d, s): _results(d, s, store) for d in DATASETS for s in STRATEGIES}
    if not any(results.values()):
        return None
    figure, axes = style.panels(1, len(DATASETS), 2.5, sharey=True)
    for panel, dataset in zip(axes, DATASETS, strict=True):
        for offset, strategy in zip((-0.14, 0.14), STRATEGIES, strict=True):
            if results[dataset, strategy]:
                _series(panel, results[dataset, strategy], strategy, offset)
        if not any(results[dataset, strategy] for strategy in STRATEGIES):
            style.not_measured(panel, "x")
        panel.set_title(dataset_info(dataset).title)
        panel.set_xlabel("test accuracy, %")
        panel.margins(x=0.12)
    axes[0].set_yticks(range(len(VARIANTS)), list(VARIANTS))
    axes[0].set_ylim(len(VARIANTS) - 0.5, -0.5)
    style.legend_below(figure, len(STRATEGIES))
    return Drawing(figure, f"{_TEXT}\n\n{_table(results)}")


def _series(panel: Axes, results: Results, strategy: str, offset: float) -> None:
    look = {**style.SERIES[strategy], "linestyle": "none"}
    places = [list(VARIANTS).index(variant) + offset for variant in results]
    means = [statistics.fmean(record["test"]) for record in results.values()]
    spreads = [record["test_std"] for record in results.values()]
    panel.errorbar(
        means, places, xerr=spreads, label=find_method(strategy).title, elinewidth=0.9, **look
    )
    if "full" in results:
        line = style.SERIES[strategy]
        panel.axvline(
            means[list(results).index("full")],
            color=line["color"],
            linestyle=line["linestyle"],
            linewidth=0.7,
            zorder=0,
        )
    for place, mean, spread, variant in zip(places, means, spreads, results, strict=True):
        if notable(results, variant):
            panel.annotate("*", (mean + spread, place), (3, -5), textcoords="offset points")


def _table(results: Mapping[tuple[str, str], Results]) -> str:
    rows = []
    for (dataset, strategy), found in results.items():
        places = [_place(found, variant) for variant in VARIANTS]
        rows.append([dataset_info(dataset).title, find_method(strategy).title, *places])
    return markdown_table(["graph", "strategy", *VARIANTS], rows)


def _place(results: Results, variant: str) -> str:
    if variant not in results:
        return "missing"
    mark = "*" if notable(results, variant) else ""
    return f"{mean_and_spread(results[variant])}{mark}"


ABLATION = FigureSpec("ablation", "Ablation: PPro without each of its parts", cells, draw)
