"""What steps and priorities are related to: degree and local homophily."""

import numpy as np
from numpy.typing import NDArray

from ppro.graph.core import UNLABELLED, Graph

FloatArray = NDArray[np.float64]


def degrees(graph: Graph) -> NDArray[np.int64]:
    """Return the number of neighbours of each node. Shape ``[n]``."""
    return np.bincount(graph.edge_index[0].numpy(), minlength=graph.num_nodes)


def local_homophily(graph: Graph) -> FloatArray:
    """Return the share of labelled neighbours with a node's label; NaN without any. ``[n]``."""
    labels = graph.labels.numpy()
    source, target = graph.edge_index.numpy()
    known = (labels[source] != UNLABELLED) & (labels[target] != UNLABELLED)
    source, target = source[known], target[known]
    same = (labels[source] == labels[target]).astype(np.float64)
    total = np.bincount(source, minlength=graph.num_nodes)
    within = np.bincount(source, weights=same, minlength=graph.num_nodes)
    return np.where(total > 0, within / np.maximum(total, 1), np.nan)


def rank_correlation(a: FloatArray, b: FloatArray) -> float | None:
    """Return Spearman's ρ over the nodes where both are known; None where one is constant."""
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if a.size < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    # SciPy's statistics take half a second to import, and every command would pay.
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)
