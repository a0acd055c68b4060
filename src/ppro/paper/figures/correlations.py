"""Steps and priorities against degree, eigenvector centrality and local homophily."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.insight.measures import rank_correlation
from ppro.paper.cells import Cell
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.nodes import EFFECTS, MEASURES, NAMES, read_arrays
from ppro.paper.store import Store
from ppro.paper.tables import paper_split
from ppro.search.methods import find_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASETS = (
    *("cora", "citeseer", "pubmed", "actor", "chameleon", "chameleon-deduplicated"),
    *("cornell", "cornell-legacy", "texas", "wisconsin"),
)
STRATEGIES = ("l2b", "l2u")
CONFIDENCE = 0.95

_TEXT = (
    "Spearman's rank correlation over all nodes of a graph, computed for each run: its mean over "
    f"the runs and the {CONFIDENCE:.0%} confidence interval of that mean. Local homophily: the "
    "share of a node's neighbours that have its label. Where all nodes of a run have one step "
    "there is no correlation; such runs are left out, and their number stands in brackets. "
    "Constant: fewer than two runs are left."
)


@dataclass(frozen=True)
class Correlation:
    """Spearman's ρ over the runs.

    Args:
        mean, reach: the mean and half the width of its confidence interval; NaN with fewer than
            two runs that have a ρ.
        constant: runs without a ρ, since all nodes are alike.
    """

    mean: float
    reach: float
    constant: int

    @property
    def text(self) -> str:
        """As it stands in a table."""
        left_out = f" ({self.constant})" if self.constant else ""
        if math.isnan(self.mean):
            return f"–{left_out}"
        return f"{self.mean:+.2f} ± {self.reach:.2f}{left_out}"


Found = dict[tuple[str, str, str, str], Correlation]
"""By dataset, strategy, effect and measure."""


def over_runs(values: Sequence[float | None]) -> Correlation:
    """Join the ρ of the runs; None stands for a run that has none."""
    known = [value for value in values if value is not None]
    constant = len(values) - len(known)
    if len(known) < 2:
        return Correlation(math.nan, math.nan, constant)
    error = statistics.stdev(known) / math.sqrt(len(known))
    from scipy import stats

    factor = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(known) - 1))
    return Correlation(statistics.fmean(known), factor * error, constant)


def correlations(arrays: dict[str, NDArray[Any]]) -> dict[tuple[str, str], Correlation]:
    """Of every effect with every measure."""
    found = {}
    for effect in EFFECTS:
        for measure in MEASURES:
            cause = arrays[measure].astype(np.float64)
            runs = arrays[effect].astype(np.float64)
            found[effect, measure] = over_runs([rank_correlation(cause, run) for run in runs])
    return found


def _cell(dataset: str, strategy: str) -> Cell:
    return Cell(dataset, paper_split(dataset), strategy, keep="nodes")


def cells() -> list[Cell]:
    """Return both strategies on every graph."""
    return [_cell(dataset, strategy) for dataset in DATASETS for strategy in STRATEGIES]


def _all(store: Store) -> Found:
    found: Found = {}
    for cell in cells():
        if store.read(cell.place) is not None:
            by_pair = correlations(read_arrays(store.path(cell.place)))
            for pair, value in by_pair.items():
                found[cell.dataset, cell.method, *pair] = value
    return found


def draw(store: Store) -> Drawing | None:
    """Draw a row of panels for steps, one for priorities; a column for each measure."""
    found = _all(store)
    if not found:
        return None
    shape = len(EFFECTS), len(MEASURES)
    figure, axes = style.panels(*shape, 5.0, sharex=True, sharey=True)
    pairs = [(effect, measure) for effect in EFFECTS for measure in MEASURES]
    for panel, (effect, measure) in zip(axes, pairs, strict=True):
        panel.axvline(0, color="black", linewidth=0.7)
        for offset, strategy in zip((-0.17, 0.17), STRATEGIES, strict=True):
            values = [found.get((d, strategy, effect, measure)) for d in DATASETS]
            _marks(panel, values, strategy, offset)
        if effect == EFFECTS[0]:
            panel.set_title(NAMES[measure])
        if measure == MEASURES[-1]:
            panel.set_ylabel(NAMES[effect], rotation=270, labelpad=10, size=9)
            panel.yaxis.set_label_position("right")
    axes[0].set_yticks(range(len(DATASETS)), [dataset_info(d).title for d in DATASETS])
    axes[0].set_ylim(len(DATASETS) - 0.5, -0.5)
    axes[0].set_xlim(-1.05, 1.05)
    for panel in axes[-len(MEASURES) :]:
        panel.set_xlabel("Spearman's ρ")
    style.legend_below(figure, len(STRATEGIES))
    return Drawing(figure, f"{_TEXT}\n\n{_table(found)}")


def _marks(panel: Axes, values: Sequence[Correlation | None], strategy: str, offset: float) -> None:
    places = [place + offset for place in range(len(values))]
    means = [math.nan if value is None else value.mean for value in values]
    reach = [math.nan if value is None else value.reach for value in values]
    look = {**style.SERIES[strategy], "linestyle": "none"}
    title = find_method(strategy).title
    panel.errorbar(means, places, xerr=reach, label=title, elinewidth=0.9, **look)
    for place, value in zip(places, values, strict=True):
        if value is not None and math.isnan(value.mean):
            panel.text(0.06, place, f"{title}: constant", size=5.5, va="center")


def _table(found: Found) -> str:
    pairs = [(effect, measure) for effect in EFFECTS for measure in MEASURES]
    head = ["graph", "strategy", *(f"{NAMES[e]}, {NAMES[m]}" for e, m in pairs)]
    rows = []
    for dataset, strategy in dict.fromkeys((key[0], key[1]) for key in found):
        places = [found[dataset, strategy, *pair].text for pair in pairs]
        rows.append([dataset_info(dataset).title, find_method(strategy).title, *places])
    return markdown_table(head, rows)


CORRELATIONS = FigureSpec(
    "correlations", "Steps and priorities against degree, centrality and homophily", cells, draw
)
