"""Graphs that need no download: handwritten digits and a contextual stochastic block model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from ppro.data.names import nearest
from ppro.data.records import DatasetInfo
from ppro.errors import DataError
from ppro.graph.core import Graph

Options = Mapping[str, float]
_WHOLE = {"neighbours", "nodes", "classes", "features"}
_RANGES = {
    "neighbours": (1, 500),
    "nodes": (4, 10_000_000),
    "classes": (2, 1000),
    "features": (1, 100_000),
    "degree": (0, 1000),
    "homophily": (0, 1),
    "signal": (0, 1e6),
}


def generate(info: DatasetInfo, seed: int, options: Options) -> Graph:
    """Make the graph ``info`` names, the same one for the same seed and options.

    Raises:
        DataError: an option is unknown or out of range.
    """
    for key, value in options.items():
        _check_option(info, key, value)
    return _GENERATORS[info.name](info, seed, {**info.options, **options})


def digits(info: DatasetInfo, seed: int, options: Options) -> Graph:
    """scikit-learn's digits, pixels in [0, 1], each joined to its nearest neighbours."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    images, labels = load_digits(return_X_y=True)
    pixels = images / 16.0
    pairs = kneighbors_graph(pixels, int(options["neighbours"])).nonzero()
    return Graph.build(
        info.name,
        torch.from_numpy(np.stack(pairs).astype(np.int64)),
        torch.from_numpy(pixels.astype(np.float32)),
        torch.from_numpy(labels.astype(np.int64)),
        class_names=info.class_names,
    )


def csbm(info: DatasetInfo, seed: int, options: Options) -> Graph:
    """A contextual stochastic block model with classes of equal size.

    ``nodes * degree / 2`` edges are drawn, each within a class with probability ``homophily``;
    the few drawn twice are merged. Node i of class c has the features
    ``signal * u_c + noise``: ``u_c`` a random unit vector, the noise standard normal.
    """
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
        info.name, torch.from_numpy(edges), torch.from_numpy(features), torch.from_numpy(labels)
    )


def _block_edges(
    generator: np.random.Generator, labels: NDArray[np.int64], classes: int, options: Options
) -> NDArray[np.int64]:
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


def _check_option(info: DatasetInfo, key: str, value: float) -> None:
    if key not in info.options:
        raise DataError(f"{info.name}: unknown option {key!r}; {nearest(key, info.options)}")
    low, high = _RANGES[key]
    if not low <= value <= high or (key in _WHOLE and value != int(value)):
        kind = "a whole number" if key in _WHOLE else "a number"
        raise DataError(f"{info.name}: {key} is {value}, expected {kind} from {low:g} to {high:g}")


_GENERATORS: dict[str, Callable[[DatasetInfo, int, Options], Graph]] = {
    "digits": digits,
    "csbm": csbm,
}
