"""A contextual stochastic block model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppro.data.records import DatasetInfo, Generator, Option
from ppro.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ppro.graph.core import Graph


def make(info: DatasetInfo, seed: int, options: Mapping[str, float]) -> Graph:
    """Draw a graph with classes of equal size.

    ``nodes * degree / 2`` edges are drawn, each within a class with probability ``homophily``;
    the few drawn twice are merged. Node i of class c has the features
    ``signal * u_c + noise``: ``u_c`` a random unit vector, the noise standard normal.
    """
    import numpy as np
    import torch

    from ppro.graph.core import Graph

    nodes, classes = int(options["nodes"]), int(options["classes"])
    if nodes < 2 * classes:
        raise DataError(f"csbm: {nodes} nodes for {classes} classes; give two nodes to each class")
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(nodes) % classes)
    edges = _block_edges(generator, labels, classes, options)
    centres = generator.standard_normal((classes, int(options["features"])))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    noise = generator.standard_normal((nodes, centres.shape[1]))
    features = (options["signal"] * centres[labels] + noise).astype(np.float32)
    return Graph.build(
        info.name,
        torch.from_numpy(edges),
        torch.from_numpy(features),
        torch.from_numpy(labels),
        directed=False,
    )


def _block_edges(
    generator: np.random.Generator,
    labels: NDArray[np.int64],
    classes: int,
    options: Mapping[str, float],
) -> NDArray[np.int64]:
    import numpy as np

    count = round(labels.size * options["degree"] / 2)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=classes)
    starts = np.cumsum(sizes) - sizes
    first = generator.integers(classes, size=count)
    inside = generator.random(count) < options["homophily"]
    second = (first + np.where(inside, 0, generator.integers(1, classes, size=count))) % classes
    source = (generator.random(count) * sizes[first]).astype(np.int64)
    # Within a class the second end skips the first one, so that no draw is a self-loop.
    target = (generator.random(count) * (sizes[second] - inside)).astype(np.int64)
    target += inside & (target >= source)
    return np.stack([order[starts[first] + source], order[starts[second] + target]])


CSBM = DatasetInfo(
    name="csbm",
    title="Contextual stochastic block model",
    # Its homophily is an option; searches take the space that does not rely on it.
    kind="heterophilous",
    generator=Generator(
        make,
        {
            "nodes": Option(1000, 4, 10_000_000, whole=True),
            "classes": Option(4, 2, 1000, whole=True),
            "features": Option(64, 1, 100_000, whole=True),
            "degree": Option(10, 0, 1000),
            "homophily": Option(0.8, 0, 1),
            "signal": Option(2.0, 0, 1e6),
        },
    ),
    licence="generated; none needed",
    citation=(
        "Y. Deshpande, S. Sen, A. Montanari, E. Mossel. "
        "Contextual stochastic block models. NeurIPS 2018"
    ),
    known_defects=("synthetic",),
)
