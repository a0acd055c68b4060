"""A generator of large graphs: heavy-tailed degrees, planted classes, features on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppro.data.large.edges import Communities, Neighbours, draw_edges
from ppro.data.large.plan import LargePlan
from ppro.data.large.store import ARRAYS, PARTS, SPLIT, Meta, write_array, write_meta

BLOCK = 2**22
"""Feature values made at a time."""


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
