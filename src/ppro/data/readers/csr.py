"""npz files that hold sparse matrices as arrays: gnn-benchmark's and graph2gauss's."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.readers.npz import npz_arrays
from ppro.data.readers.raw import RawGraph, broken, consistent_csr, raw_graph

_PARTS = ("data", "indices", "indptr", "shape")


def read_csr_npz(path: Path) -> RawGraph:
    """Read ``adj_*``, ``attr_*`` and ``labels``; names of nodes and words, which are pickled, stay.

    An entry of the adjacency matrix is an edge, whatever its value.
    """
    adjacency, attributes = _matrix(path, "adj"), _matrix(path, "attr")
    (labels,) = npz_arrays(path, ("labels",))
    return sparse_graph(path, adjacency, attributes, labels)


def sparse_graph(
    path: Path, adjacency: sp.csr_matrix, features: sp.spmatrix | NDArray[Any], labels: NDArray[Any]
) -> RawGraph:
    """Check that the parts of a graph fit, and return it."""
    nodes = adjacency.shape[0]
    if adjacency.shape != (nodes, nodes) or features.shape[0] != nodes or features.ndim != 2:
        raise broken(path, f"adjacency {adjacency.shape} and features {features.shape} do not fit")
    if labels.shape != (nodes,) or labels.dtype.kind not in "iu":
        raise broken(path, f"labels {labels.shape} of {labels.dtype} for {nodes} nodes")
    ends = adjacency.tocoo()
    return raw_graph(np.stack([ends.row, ends.col], 1), sp.csr_matrix(features), labels)


def _matrix(path: Path, name: str) -> sp.csr_matrix:
    data, indices, indptr, shape = npz_arrays(path, [f"{name}_{part}" for part in _PARTS])
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise broken(path, f"{name}_shape is not that of a matrix")
    size = int(shape[0]), int(shape[1])
    if data.dtype.kind not in "iufb" or not consistent_csr(data, indices, indptr, size):
        raise broken(path, f"its matrix {name} is inconsistent")
    return sp.csr_matrix((data, indices, indptr), shape=size)
