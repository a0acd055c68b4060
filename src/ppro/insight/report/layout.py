"""Where to draw the nodes: t-SNE of the distances along edges, which keeps communities apart."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

ITERATIONS = 400
PERPLEXITY = 30.0
FEWEST = 5
"""Fewer nodes than this stand on a circle."""


def positions(edge_index: NDArray[np.int64], num_nodes: int) -> NDArray[np.float32]:
    """Return coordinates within [-1, 1], the same for the same graph. Shape ``[n, 2]``.

    Distances between all pairs are held in memory: for some thousand nodes at most.
    """
    if num_nodes < FEWEST:
        return _circle(num_nodes)
    distance = _distances(edge_index, num_nodes)
    return _centred(_tsne(distance))


def _circle(num_nodes: int) -> NDArray[np.float32]:
    angle = 2 * np.pi * np.arange(num_nodes) / max(num_nodes, 1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


def _distances(edge_index: NDArray[np.int64], num_nodes: int) -> NDArray[np.float64]:
    """Return hops between nodes; unconnected parts are a bit further apart than all others."""
    ones = np.ones(edge_index.shape[1], dtype=np.float64)
    adjacency = csr_matrix((ones, (edge_index[0], edge_index[1])), shape=(num_nodes, num_nodes))
    distance: NDArray[np.float64] = shortest_path(adjacency, directed=False, unweighted=True)
    apart = np.isinf(distance)
    distance[apart] = 0.0
    distance[apart] = distance.max() + 2.0
    return distance


def _tsne(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (distance.shape[0] - 1) / 3)
    method = TSNE(
        metric="precomputed",
        init=_scaled(distance),
        perplexity=perplexity,
        max_iter=ITERATIONS,
        random_state=0,
    )
    found: NDArray[np.float64] = method.fit_transform(distance)
    return found


def _scaled(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale classically with a few far-apart pivots: a start that has the large shape already."""
    pivots = [int(distance.sum(1).argmin())]
    for _ in range(min(30, distance.shape[0]) - 1):
        pivots.append(int(distance[pivots].min(0).argmax()))
    squared = distance[:, pivots] ** 2
    centred = squared - squared.mean(0) - squared.mean(1, keepdims=True) + squared.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    start = centred @ vectors[:, :-3:-1]
    # A sign of an eigenvector is arbitrary; equal nodes must not start at one point.
    start *= np.where(start.sum(0) < 0, -1.0, 1.0)
    start += np.random.default_rng(0).normal(scale=0.01 * start.std() + 1e-9, size=start.shape)
    scaled: NDArray[np.float64] = 1e-2 * start / (np.abs(start).max() or 1.0)
    return scaled


def _centred(found: NDArray[np.float64]) -> NDArray[np.float32]:
    low, high = found.min(0), found.max(0)
    extent = np.where(high > low, high - low, 1.0)
    scaled: NDArray[np.float32] = (2 * (found - low) / extent - 1).astype(np.float32)
    return scaled
