"""The parts of a graph as another library holds them, and what the readers of all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.errors import DataError

MASKS = ("train_mask", "val_mask", "test_mask")


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a graph as the other library holds them.

    Args:
        masks: those of MASKS that the object has. Shapes ``[k, n]``, bool.
    """

    name: str
    edges: Tensor
    features: Tensor
    labels: Any = None
    weight: Tensor | None = None
    node_ids: Sequence[str] | None = None
    masks: dict[str, Tensor] = field(default_factory=dict)


def as_mask(mask: Any, num_nodes: int, name: str) -> Tensor:
    """A mask of nodes, ``[n]``, ``[k, n]`` or PyTorch Geometric's ``[n, k]``, as ``[k, n]``.

    Raises:
        DataError: it is not of truth values, or of another size.
    """
    array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
    if array.dtype != np.bool_:
        raise DataError(f"{name}: a mask of {array.dtype}; give True or False for each node")
    if array.ndim == 2 and array.shape[0] == num_nodes:
        array = array.T
    array = np.atleast_2d(array)
    if array.ndim != 2 or array.shape[1] != num_nodes or not array.shape[0]:
        raise DataError(f"{name}: a mask of shape {array.shape} for {num_nodes} nodes")
    return torch.from_numpy(np.ascontiguousarray(array))


def feature_matrix(features: Any, name: str) -> Tensor:
    """Features as a dense or CSR tensor on the CPU."""
    if isinstance(features, Tensor):
        features = features.detach().cpu()
        sparse = features.layout not in (torch.strided, torch.sparse_csr)
        found: Tensor = features.to_sparse_csr() if sparse else features
        return found
    if sp.issparse(features):
        return csr_tensor(features)
    try:
        return torch.from_numpy(np.array(features, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: features are not all numbers ({error})") from None
