"""A generator of large graphs: heavy-tailed degrees, planted classes, features on disk.

A degree-corrected block model of two levels. Nodes lie in communities of about ``COMMUNITY``
nodes, communities in classes. An end of an edge is drawn as a class, a community of it and a node
of that, the last two by the square of a uniform number: the r-th of them comes up with a
probability falling as 1/√r, so degrees have a heavy tail.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.large.plan import LargePlan
from ppro.data.large.store import ARRAYS, PARTS, SPLIT, Meta, write_array, write_meta

COMMUNITY = 100
LOCAL = 0.5
"""The share of the edges within a class that stay in a community."""
CHUNK = 2_000_000
"""Edges drawn, or neighbours written, at a time."""
ROUNDS, SHORTFALL = 20, 1e-3
"""How often edges that came out equal are drawn again, and the share that may stay missing."""

Keys = NDArray[np.int64]


class Communities:
    """Which nodes form a community and which communities a class, in the order of the nodes."""

    def __init__(self, nodes: int, classes: int, seed: int) -> None:
        self.nodes, self.classes = nodes, classes
        count = max(classes, nodes // COMMUNITY)
        self.starts = np.arange(count + 1, dtype=np.int64) * nodes // count
        # Communities that are often drawn, the first of a class, lie anywhere in the numbering.
        self.places = np.random.default_rng([seed, 0]).permutation(count)
        self.per_class = (count - np.arange(classes) + classes - 1) // classes

    def labels(self) -> NDArray[np.int32]:
        """Return the class of every node."""
        by_place = np.empty(self.places.size, dtype=np.int32)
        by_place[self.places] = np.arange(self.places.size) % self.classes
        return np.repeat(by_place, np.diff(self.starts))

    def draw(self, rng: np.random.Generator, count: int, homophily: float) -> Keys:
        """Edges as ``low * nodes + high``; self-loops are left out, so there may be fewer."""
        first = rng.integers(self.classes, size=count)
        shift = np.where(
            rng.random(count) < homophily, 0, rng.integers(1, self.classes, size=count)
        )
        second = (first + shift) % self.classes
        one, other = self._community(rng, first), self._community(rng, second)
        other = np.where((shift == 0) & (rng.random(count) < LOCAL), one, other)
        source, target = self._node(rng, one), self._node(rng, other)
        low, high = np.minimum(source, target), np.maximum(source, target)
        keys: Keys = (low * self.nodes + high)[low != high]
        return keys

    def _community(self, rng: np.random.Generator, classes: Keys) -> Keys:
        rank = (rng.random(classes.size) ** 2 * self.per_class[classes]).astype(np.int64)
        place: Keys = self.places[rank * self.classes + classes]
        return place

    def _node(self, rng: np.random.Generator, places: Keys) -> Keys:
        begin, end = self.starts[places], self.starts[places + 1]
        node: Keys = begin + (rng.random(places.size) ** 2 * (end - begin)).astype(np.int64)
        return node


def draw_edges(communities: Communities, count: int, homophily: float, seed: int) -> Keys:
    """Return about ``count`` different edges as sorted keys.

    Edges that were drawn before are drawn anew, until next to none misses.
    """
    keys: Keys = np.empty(0, dtype=np.int64)
    for number in range(1, ROUNDS + 1):
        missing = count - keys.size
        if missing <= SHORTFALL * count:
            break
        drawn = [keys]
        for chunk, begin in enumerate(range(0, missing, CHUNK)):
            rng = np.random.default_rng([seed, number, chunk])
            drawn.append(communities.draw(rng, min(CHUNK, missing - begin), homophily))
        keys = np.concatenate(drawn)
        del drawn
        keys.sort()
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    return keys


class Neighbours:
    """Both directions of edges by rows.

    Args:
        keys: each edge once as ``low * nodes + high``, sorted.
    """

    def __init__(self, keys: Keys, nodes: int) -> None:
        self.nodes = nodes
        counts = np.zeros(nodes, dtype=np.int64)
        high = np.empty(keys.size, dtype=np.int32)
        for begin in range(0, keys.size, CHUNK):
            low, part = np.divmod(keys[begin : begin + CHUNK], nodes)
            high[begin : begin + CHUNK] = part
            counts += np.bincount(low, minlength=nodes)
        starts = np.concatenate([[0], np.cumsum(counts)])
        ones = np.ones(keys.size, dtype=np.int8)
        self.above: Any = sp.csr_array((ones, high, starts), shape=(nodes, nodes))
        self.below: Any = self.above.T.tocsr()
        # Where a row begins among the entries above and below the diagonal, and in both.
        self.begins = starts, self.below.indptr.astype(np.int64)
        self.starts = starts + self.begins[1]

    def blocks(self) -> Iterator[NDArray[np.int32]]:
        """Yield the neighbours of row after row: those with smaller numbers, then the others."""
        step = max(1, CHUNK * self.nodes // max(1, int(self.starts[-1])))
        for begin in range(0, self.nodes, step):
            end = min(begin + step, self.nodes)
            yield self._rows(begin, end)

    def _rows(self, begin: int, end: int) -> NDArray[np.int32]:
        out = np.empty(int(self.starts[end] - self.starts[begin]), dtype=np.int32)
        above, below = (starts[begin : end + 1] for starts in self.begins)
        # An entry moves behind those of the other half in earlier rows, and, where it lies above
        # the diagonal, behind those of its own row too.
        halves = (self.below, below, above[:-1]), (self.above, above, below[1:])
        for half, bounds, before in halves:
            moved = np.repeat(before - self.starts[begin], np.diff(bounds))
            place = np.arange(bounds[0], bounds[-1]) + moved
            out[place] = half.indices[bounds[0] : bounds[-1]]
        return out


BLOCK = 2**22
"""Feature values made at a time."""


def generate_large(folder: Path, plan: LargePlan) -> Meta:
    """Write a generated graph to an empty folder; the same plan gives the same bytes.

    Memory holds the edges, never the features.
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
    """Return the part of each node, drawn by itself."""
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
