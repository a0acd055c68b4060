"""A graph whose nodes need different depths, and that tells which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppro.data.records import DatasetInfo, Generator, Option
from ppro.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ppro.graph.core import Graph

FEATURES, DEGREE, NEIGHBOURHOOD = 0, 1, 2
"""What shows the type of a node: its first feature, its degree, or its neighbourhood alone."""
SURE, UNSURE, LYING = 0.35, 1.6, 0.55
"""Noise of telling features and of poor ones; how often those of a deep node lie where the
neighbourhood alone shows the type."""


def make(info: DatasetInfo, seed: int, options: Mapping[str, float]) -> Graph:
    """Draw nodes of two types.

    Neighbours tell the class of a deep node, its features hardly do; its edges go to deep nodes, a
    share ``homophily`` of them of its own class. Features tell the class of a shallow node, its
    edges go anywhere. So deep nodes want several steps, shallow ones none.
    """
    import numpy as np
    import torch

    from ppro.graph.core import Graph

    nodes, classes = int(options["nodes"]), int(options["classes"])
    if nodes < 20 * classes:
        raise DataError(
            f"planted: {nodes} nodes for {classes} classes; give each class at least 20"
        )
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, nodes)
    deep = rng.permutation(np.arange(nodes) < round(options["share"] * nodes))
    features = _features(rng, labels, deep, options)
    edges = _edges(rng, labels, deep, options)
    return Graph.build(
        info.name,
        torch.from_numpy(edges),
        torch.from_numpy(features.astype(np.float32)),
        torch.from_numpy(labels),
    )


def deep_nodes(seed: int, options: Mapping[str, float]) -> NDArray[np.bool_]:
    """Return which nodes are of the deep type. Shape ``[n]``."""
    import numpy as np

    nodes, classes = int(options["nodes"]), int(options["classes"])
    rng = np.random.default_rng(seed)
    rng.integers(0, classes, nodes)
    return rng.permutation(np.arange(nodes) < round(options["share"] * nodes))


def _features(
    rng: np.random.Generator,
    labels: NDArray[np.int64],
    deep: NDArray[np.bool_],
    options: Mapping[str, float],
) -> NDArray[np.float64]:
    import numpy as np

    nodes, width, classes = labels.size, int(options["features"]), int(options["classes"])
    centres = rng.normal(0, np.sqrt(4 / 32), (classes, width))
    noise = rng.standard_normal((nodes, width))
    if options["show"] == NEIGHBOURHOOD:
        lies = deep & (rng.random(nodes) < LYING)
        shown = np.where(lies, (labels + rng.integers(1, classes, nodes)) % classes, labels)
        return np.asarray(centres[shown] + SURE * noise)
    found = centres[labels] + noise * np.where(deep, UNSURE, SURE)[:, None]
    kind = np.where(deep, 1.5, -1.5) + 0.3 * rng.standard_normal(nodes)
    found[:, 0] = kind if options["show"] == FEATURES else rng.standard_normal(nodes)
    return np.asarray(found)


def _edges(
    rng: np.random.Generator,
    labels: NDArray[np.int64],
    deep: NDArray[np.bool_],
    options: Mapping[str, float],
) -> NDArray[np.int64]:
    """Draw the edges of each node: those of deep nodes among deep ones. Shape ``[2, E]``."""
    import numpy as np

    degree = int(options["degree"])
    counts = np.where(deep | (options["show"] != DEGREE), degree, max(degree // 2, 1))
    source = np.repeat(np.arange(labels.size), counts)
    target = rng.integers(0, labels.size, source.size)
    inside = rng.random(source.size) < options["homophily"]
    members = np.flatnonzero(deep)
    for c in range(int(options["classes"])):
        own, others = members[labels[members] == c], members[labels[members] != c]
        for pool, wanted in ((own, inside), (others, ~inside)):
            rows = np.flatnonzero(deep[source] & (labels[source] == c) & wanted)
            if pool.size:
                target[rows] = rng.choice(pool, rows.size)
    return np.stack([source, target])


PLANTED = DatasetInfo(
    name="planted",
    title="Planted depths",
    kind="heterophilous",
    generator=Generator(
        make,
        {
            "nodes": Option(3000, 40, 1_000_000, whole=True),
            "classes": Option(5, 2, 100, whole=True),
            "features": Option(32, 2, 10_000, whole=True),
            "degree": Option(4, 1, 100, whole=True),
            "share": Option(0.5, 0, 1),
            "homophily": Option(0.8, 0, 1),
            "show": Option(FEATURES, FEATURES, NEIGHBOURHOOD, whole=True),
        },
    ),
    licence="generated; none needed",
    citation="none: made for this project",
    known_defects=("synthetic; show=0, 1, 2: features, degree, neighbourhood alone tell the type",),
)
