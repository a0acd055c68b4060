"""A generator of large graphs: heavy-tailed degrees, planted classes, features on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.data.large.edges import Communities, Neighbours, draw_edges
from ppro.data.large.store import ARRAYS, PARTS, SPLIT, Meta, write_array, write_meta
from ppro.errors import DataError

BLOCK = 2**22
"""Feature values made at a time."""

_RANGES = {
    "nodes": (20, 2**31 - 1),
    "degree": (0.1, 10_000),
    "homophily": (0, 1),
    "classes": (2, 10_000),
    "features": (1, 100_000),
    "signal": (0, 1e6),
    "train": (0, 1),
    "val": (0, 1),
    "seed": (0, 2**31 - 1),
}


@dataclass(frozen=True)
class LargePlan:
    """What to generate.

    Args:
        nodes: n.
        degree: the mean number of neighbours.
        homophily: the share of the edges within a class.
        features: f, the width of a row of features.
        signal: length of the class centres, around which features are standard normal.
        train: share of the nodes that train.
        val: share that validates; the rest is for testing.
    """

    nodes: int = 1_000_000
    degree: float = 20.0
    homophily: float = 0.7
    classes: int = 10
    features: int = 128
    signal: float = 1.0
    train: float = 0.1
    val: float = 0.05
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be generated.

        Raises:
            DataError: a number is out of range, or two do not go together.
        """
        for key, (low, high) in _RANGES.items():
            value = getattr(self, key)
            if not low <= value <= high:
                raise DataError(f"{key} is {value:g}, expected a number from {low:g} to {high:g}")
        if self.nodes < 10 * self.classes:
            raise DataError(f"{self.nodes} nodes for {self.classes} classes; give ten to each")
        if self.degree > self.nodes / self.classes / 10:
            most = self.nodes / self.classes / 10
            raise DataError(f"degree is {self.degree:g}, at most {most:g} fits; give more nodes")
        if not 0 < self.train < self.train + self.val <= 1 or self.val == 0:
            raise DataError("train and val must be shares of the nodes, together at most 1")


def generate_large(folder: Path, plan: LargePlan) -> Meta:
    """Write a generated graph to an empty folder; the same plan gives the same bytes.

    Memory holds the edges, never the features.

    Raises:
        DataError: the plan cannot be generated.
    """
    plan.check()
    communities = Communities(plan.nodes, plan.classes, plan.seed)
    labels = communities.labels()
    _write(folder, "labels.npy", (plan.nodes,), iter([labels]))
    _write(folder, SPLIT, (plan.nodes,), iter([_split(plan)]))
    shape = (plan.nodes, plan.features)
    _write(folder, "features.npy", shape, _features(plan, labels))
    count = round(plan.nodes * plan.degree / 2)
    keys = draw_edges(communities, count, plan.homophily, plan.seed)
    rows = Neighbours(keys, plan.nodes)
    entries = 2 * keys.size
    del keys
    _write(folder, "indptr.npy", (plan.nodes + 1,), iter([rows.starts]))
    _write(folder, "indices.npy", (entries,), rows.blocks())
    meta = Meta(
        nodes=plan.nodes,
        entries=entries,
        features=plan.features,
        class_names=tuple(str(c) for c in range(plan.classes)),
        bytes={},
        made_with={key: float(value) for key, value in asdict(plan).items()},
    )
    return write_meta(folder, meta)


def _write(folder: Path, name: str, shape: tuple[int, ...], blocks: Iterator[Any]) -> None:
    write_array(folder / name, shape, ARRAYS[name], blocks)


def _split(plan: LargePlan) -> NDArray[np.uint8]:
    """The part of each node, drawn by itself."""
    drawn = np.random.default_rng([plan.seed, 1]).random(plan.nodes)
    parts = np.full(plan.nodes, PARTS["test"], dtype=np.uint8)
    parts[drawn < plan.train + plan.val] = PARTS["val"]
    parts[drawn < plan.train] = PARTS["train"]
    return parts


def _features(plan: LargePlan, labels: NDArray[np.int32]) -> Iterator[NDArray[np.float32]]:
    """``signal * u_c + noise`` in blocks of rows; u_c is a random unit vector of the class."""
    centres = np.random.default_rng([plan.seed, 2]).standard_normal((plan.classes, plan.features))
    centres *= plan.signal / np.linalg.norm(centres, axis=1, keepdims=True)
    scaled = centres.astype(np.float32)
    step = max(1, BLOCK // plan.features)
    for number, begin in enumerate(range(0, plan.nodes, step)):
        rng = np.random.default_rng([plan.seed, 3, number])
        part = labels[begin : begin + step]
        block = rng.standard_normal((part.size, plan.features), dtype=np.float32)
        block += scaled[part]
        yield block
