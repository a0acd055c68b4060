"""How steps and priorities change with degree, eigenvector centrality and local homophily."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppro.data import dataset_info
from ppro.paper.cells import Cell
from ppro.paper.figures import style
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.nodes import EFFECTS, MEASURES, NAMES, read_arrays
from ppro.paper.store import Store
from ppro.paper.tables import paper_split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHOD = "l2b"
GROUPS = 10

_LOOKS: dict[str, dict[str, Any]] = {
    "cora": {"color": style.BLUE, "marker": "o", "linestyle": "-"},
    "pubmed": {"color": style.GREEN, "marker": "^", "linestyle": "-."},
    "chameleon": {"color": style.ORANGE, "marker": "s", "linestyle": "--"},
    "actor": {"color": "black", "marker": "D", "linestyle": ":", "markerfacecolor": "white"},
}
_TEXT = (
    "L2B. The nodes of a graph in ten groups of equal size by their rank in a measure (nodes of "
    "one value stay together, so that a group may be empty), and what a group has on average: the "
    "step as a share of the largest one, L, and the priority as a multiple of the graph's mean. "
    "Mean and standard deviation over the runs."
)
_SCALES = {"steps": "step / L", "priorities": "priority / mean"}


def _cell(dataset: str) -> Cell:
    return Cell(dataset, paper_split(dataset), METHOD, keep="nodes")


def cells() -> list[Cell]:
    """The large graphs: a tenth of them is many nodes."""
    return [_cell(dataset) for dataset in _LOOKS]


def group_means(measure: NDArray[np.float64], effects: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each run in each group of nodes, NaN without a node.

    Shapes: ``[n]`` and ``[R, n]`` to ``[R, GROUPS]``.
    """
    known = np.isfinite(measure)
    from scipy.stats import rankdata

    rank = rankdata(measure[known]) / known.sum()
    group = np.minimum((rank * GROUPS).astype(int), GROUPS - 1)
    sizes = np.bincount(group, minlength=GROUPS)
    sums = np.stack([np.bincount(group, run[known], GROUPS) for run in effects])
    return sums / np.where(sizes > 0, sizes, np.nan)


def scaled(arrays: dict[str, NDArray[Any]], effect: str, max_steps: int) -> NDArray[np.float64]:
    """An effect as a share of L, or as a multiple of each run's mean. Shape ``[R, n]``."""
    values = arrays[effect].astype(np.float64)
    return values / (max_steps if effect == "steps" else values.mean(1, keepdims=True))


def draw(store: Store) -> Drawing | None:
    """A row of panels for steps, one for priorities; a column for each measure."""
    records = {dataset: store.one(_cell(dataset).place) for dataset in _LOOKS}
    known = {dataset: record for dataset, record in records.items() if record is not None}
    if not known:
        return None
    figure, axes = style.panels(len(EFFECTS), len(MEASURES), 4.2, sharex=True, sharey="row")
    places = [(effect, measure) for effect in EFFECTS for measure in MEASURES]
    for dataset, record in known.items():
        arrays = read_arrays(store.path(_cell(dataset).place))
        for panel, (effect, measure) in zip(axes, places, strict=True):
            values = scaled(arrays, effect, record["settings"]["max_steps"])
            _line(panel, group_means(arrays[measure].astype(np.float64), values), dataset)
    for panel, (effect, measure) in zip(axes, places, strict=True):
        if measure == MEASURES[0]:
            panel.set_ylabel(_SCALES[effect])
        if effect == EFFECTS[-1]:
            panel.set_xlabel(f"tenth of nodes by {NAMES[measure]}", size=7.5)
    axes[0].set_ylim(-0.05, 1.05)
    axes[0].set_xticks(range(1, GROUPS + 1, 3))
    style.legend_below(figure, len(_LOOKS))
    return Drawing(figure, _TEXT)


def _line(panel: Axes, by_run: NDArray[np.float64], dataset: str) -> None:
    mean, spread = by_run.mean(0), by_run.std(0)
    shown = np.isfinite(mean)
    groups = np.arange(1, GROUPS + 1)[shown]
    panel.errorbar(
        groups,
        mean[shown],
        yerr=spread[shown],
        label=dataset_info(dataset).title,
        elinewidth=0.7,
        **_LOOKS[dataset],
    )


RELATIONS = FigureSpec("relations", "How steps and priorities change over the nodes", cells, draw)
