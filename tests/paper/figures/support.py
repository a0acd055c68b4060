"""Result files made up for the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.paper.cells import Cell
from ppro.paper.nodes import write_arrays
from ppro.paper.store import Store
from tests.paper.support import keep, reached

RUNS = 3


def write_accuracies(store: Store, cell: Cell, test: Sequence[float], **settings: Any) -> None:
    """Accuracies as a table keeps them."""
    keep(store, cell.place, {**reached(test), "settings": {**settings, **cell.changes}})


def arrays(nodes: int = 60, seed: int = 0) -> dict[str, NDArray[Any]]:
    """A ring with a hub; steps follow the degree, priorities the homophily turned round."""
    rng = np.random.default_rng(seed)
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    hub = [(0, i) for i in range(2, nodes - 1, 2)]
    edges = np.array(ring + hub).T
    degree = np.bincount(edges.ravel(), minlength=nodes)
    homophily = rng.random(nodes)
    return {
        "steps": np.tile(degree.clip(max=9), (RUNS, 1)).astype(np.uint8),
        "priorities": np.tile(2 - homophily, (RUNS, 1)).astype(np.float32),
        "degree": degree.astype(np.int32),
        "centrality": rng.random(nodes).astype(np.float32),
        "homophily": homophily.astype(np.float32),
        "edges": edges.astype(np.uint16),
        "labels": (np.arange(nodes) % 3).astype(np.int16),
    }


def write_nodes(store: Store, cell: Cell, made: dict[str, NDArray[Any]]) -> None:
    """The nodes of a cell."""
    path = store.path(cell.place)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, made)
    result = {"val": [80.0, 82.0, 81.0], "settings": {"max_steps": 10}}
    keep(store, cell.place, result, runs=RUNS)
