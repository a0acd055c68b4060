"""A generated graph whose nodes need different depths, known beforehand."""

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
SHOWN = ("features", "degree", "neighbourhood")
SURE, UNSURE, LYING = 0.35, 1.6, 0.55
"""Noise of telling features and of poor ones; how often those of a deep node lie where features
must not show the type."""


def make(info: DatasetInfo, seed: int, options: Mapping[str, float]) -> Graph:
    """Draw nodes of two types.

    Neighbours tell the class of a deep node, its features hardly do; its edges go to deep nodes, a
    share ``homophily`` of them of its own class. Features tell the class of a shallow node, its
    edges go anywhere. So deep nodes want several steps, shallow ones none.
    """
    import numpy as np
    import torch

    from ppro.graph.core import Graph

    nodes, classes, degree = (int(options[key]) for key in ("nodes", "classes", "degree"))
    if nodes < 20 * classes:
        raise DataError(
            f"planted: {nodes} nodes for {classes} classes; give each class at least 20"
        )
    if options["show"] == DEGREE and degree < 2:
        raise DataError("planted: a degree of 1 shows nothing; give at least 2 for show=degree")
    rng = np.random.default_rng(seed)
    labels, deep = _labels_and_types(rng, options)
    features = _features(rng, labels, deep, options)
    edges = _edges(rng, labels, deep, options)
    return Graph.build(
        info.name,
        torch.from_numpy(edges),
        torch.from_numpy(features.astype(np.float32)),
        torch.from_numpy(labels),
        directed=False,
    )


def deep_nodes(
    seed: int = 0, options: Mapping[str, float | str] | None = None
) -> NDArray[np.bool_]:
    """Return which nodes of the graph with this seed and these options are deep. Shape ``[n]``."""
    import numpy as np

    from ppro.data.options import checked_options

    chosen = {**PLANTED.options, **checked_options(PLANTED.name, options or {}, PLANTED)}
    return _labels_and_types(np.random.default_rng(seed), chosen)[1]


def _labels_and_types(
    rng: np.random.Generator, options: Mapping[str, float]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Draw the class of each node, and whether it is deep. Shapes ``[n]``."""
    import numpy as np

    nodes = int(options["nodes"])
    labels = rng.integers(0, int(options["classes"]), nodes)
    return labels, rng.permutation(np.arange(nodes) < round(options["share"] * nodes))


def _features(
    rng: np.random.Generator,
    labels: NDArray[np.int64],
    deep: NDArray[np.bool_],
    options: Mapping[str, float],
) -> NDArray[np.float64]:
    """Draw features around the mean of a class. Shape ``[n, f]``.

    Those of a deep node are noisy, and the first one shows the type. Where features must not show
    it, they are as sharp as those of a shallow node, but often around the mean of a wrong class.
    """
    import numpy as np

    nodes, width, classes = labels.size, int(options["features"]), int(options["classes"])
    centres = rng.normal(0, np.sqrt(4 / width), (classes, width))
    noise = rng.standard_normal((nodes, width))
    if options["show"] != FEATURES:
        lies = deep & (rng.random(nodes) < LYING)
        shown = np.where(lies, (labels + rng.integers(1, classes, nodes)) % classes, labels)
        return np.asarray(centres[shown] + SURE * noise)
    found = centres[labels] + noise * np.where(deep, UNSURE, SURE)[:, None]
    found[:, 0] = np.where(deep, 1.5, -1.5) + 0.3 * rng.standard_normal(nodes)
    return np.asarray(found)


def _edges(
    rng: np.random.Generator,
    labels: NDArray[np.int64],
    deep: NDArray[np.bool_],
    options: Mapping[str, float],
) -> NDArray[np.int64]:
    """Draw the edges of each node: those of deep nodes among deep ones. Shape ``[2, E]``.

    Deep nodes are drawn more often, so their degree is higher. Shallow ones draw half as many where
    the degree shows the type, and some among themselves where it must not.
    """
    import numpy as np

    degree = int(options["degree"])
    counts = np.where(deep | (options["show"] != DEGREE), degree, degree // 2)
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
    if options["show"] == NEIGHBOURHOOD and not deep.all():
        # Half a degree drawn, half received: with it both types have as many edges.
        shallow = np.flatnonzero(~deep)
        more = np.repeat(shallow, degree)[::2]
        source = np.concatenate([source, more])
        target = np.concatenate([target, rng.choice(shallow, more.size)])
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
            "show": Option(FEATURES, FEATURES, NEIGHBOURHOOD, whole=True, words=SHOWN),
        },
    ),
    licence="generated; none needed",
    citation="none: made for this project",
    known_defects=(
        "synthetic: half of its nodes (share) want several steps, the others none; "
        "ppro.data.deep_nodes says which",
    ),
)
