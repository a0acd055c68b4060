"""Where the nodes of a graph lie in a plane, by Isomap, kept between uses."""

import hashlib
import io
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppro.data.storage import cache_folder, write_whole
from ppro.files import open_regular

logger = logging.getLogger(__name__)

Places = NDArray[np.float64]

WORTH_KEEPING = 500
"""Nodes from which an embedding takes longer to compute than to read."""

SIGNED = 32
"""Bytes of the SHA-256 behind the places in a file."""

DIGITS = 6
"""Nodes with the same neighbours have the same place but for noise, which rounding takes off."""


def places(edges: NDArray[np.int64], num_nodes: int) -> Places:
    """Isomap of the shortest-path metric in two dimensions, each component by itself.

    Args:
        edges: both directions of every edge. Shape ``[2, E]``.

    Returns:
        Shape ``[n, 2]``. Places of nodes in different components have nothing to do with another.
    """
    if num_nodes < WORTH_KEEPING:
        return _computed(edges, num_nodes)
    digest = hashlib.sha256(f"{num_nodes}\n".encode() + edges.astype("<i8").tobytes())
    path = cache_folder() / "isomap" / f"{digest.hexdigest()}.npy"
    held = _read(path, num_nodes)
    return _write(path, _computed(edges, num_nodes)) if held is None else held


def components(edges: NDArray[np.int64], num_nodes: int) -> NDArray[np.int32]:
    """Return the number of the component of each node. Shape ``[n]``."""
    labels: NDArray[np.int32] = sparse.csgraph.connected_components(_hops(edges, num_nodes))[1]
    return labels


def _computed(edges: NDArray[np.int64], num_nodes: int) -> Places:
    hops, component = _hops(edges, num_nodes), components(edges, num_nodes)
    found = np.zeros((num_nodes, 2))
    sizes = np.bincount(component)
    for label in np.flatnonzero(sizes > 1):
        members = np.flatnonzero(component == label)
        found[members] = _isomap(hops[members][:, members])
    # Adding zero turns -0.0 into 0.0, so that files of equal places are equal.
    return np.round(found, DIGITS) + 0.0


def _isomap(hops: Any) -> Places:
    """Isomap of a connected graph; two nodes lie on a line."""
    from sklearn.manifold import Isomap

    if hops.shape[0] == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    # The edges themselves are the neighbours: those within a radius of one hop.
    method = Isomap(n_neighbors=None, radius=1.0, metric="precomputed", eigen_solver="dense")
    found: Places = method.fit_transform(hops)
    return found


def _hops(edges: NDArray[np.int64], num_nodes: int) -> Any:
    ones = np.ones(edges.shape[1])
    return sparse.csr_matrix((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))


def _read(path: Path, num_nodes: int) -> Places | None:
    """Return the places a file holds; None where there is no sound one."""
    most = num_nodes * 16 + 4096
    try:
        with open_regular(path) as file:
            content = file.read(most)
        if hashlib.sha256(content[:-SIGNED]).digest() != content[-SIGNED:]:
            logger.warning("%s: changed since it was written; it is made anew", path)
            return None
        held = np.load(io.BytesIO(content), allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    sound = held.shape == (num_nodes, 2) and held.dtype == np.float64 and np.isfinite(held).all()
    return held if sound else None


def _write(path: Path, found: Places) -> Places:
    content = io.BytesIO()
    np.save(content, found, allow_pickle=False)
    # A folder that cannot be written to costs time at the next use, nothing else.
    with suppress(OSError):
        signed = content.getvalue()
        write_whole(path, signed + hashlib.sha256(signed).digest())
    return found
