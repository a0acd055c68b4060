"""A pair (adjacency, features) of SciPy or NumPy matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ppro.errors import DataError
from ppro.graph.foreign.parts import Parts, feature_matrix


def from_matrices(adjacency: Any, features: Any) -> Parts:
    """The parts of a graph in two matrices; weights where the entries are not all 1."""
    name = "matrices"
    matrix = sp.coo_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name}: an adjacency of shape {matrix.shape}; it must be square")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    edges = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    same = bool((matrix.data == 1).all())
    weight = None if same else torch.from_numpy(matrix.data.astype(np.float32))
    found = feature_matrix(features, name)
    if found.shape[0] != matrix.shape[0]:
        raise DataError(
            f"{name}: {found.shape[0]} rows of features for an adjacency of {matrix.shape[0]} nodes"
        )
    return Parts(name, edges, found, weight=weight)
