"""What every reader returns, and the checks that all formats share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.errors import DataError

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

# Several times the largest raw file of the catalogue: what is larger is not one of them.
MAX_FILE_BYTES = 128 * 2**20
MAX_UNPACKED_BYTES = 512 * 2**20
DENSE = 0.5
"""Share of features other than 0 from which a sparse matrix is larger than a dense one."""


@dataclass(frozen=True, eq=False)
class RawGraph:
    """Edges as the file lists them, features and labels, before ``Graph.build``.

    Args:
        edges: pairs of nodes, in any direction. Shape ``[2, E]``.
        features: sparse CSR, or dense where most are not 0. Shape ``[n, f]``, float32.
        labels: Shape ``[n]``, int64.
    """

    edges: Tensor
    features: Tensor
    labels: Tensor


@dataclass(frozen=True, eq=False)
class Masks:
    """Training, validation and test nodes, one row per run. Shapes ``[runs, n]``."""

    train: BoolArray
    val: BoolArray
    test: BoolArray


def broken(path: Path, what: str) -> DataError:
    """Return the error for a file whose content is not what its format promises."""
    return DataError(f"{path}: {what}; delete the file and fetch it again")


def file_bytes(path: Path) -> bytes:
    """Return the content of a raw file, refused when it is too large to be one."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise broken(path, f"larger than {MAX_FILE_BYTES // 2**20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; check the path and its permissions") from error


def file_lines(path: Path) -> list[str]:
    """Return the lines of a raw ASCII file."""
    try:
        return file_bytes(path).decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise broken(path, f"byte {error.start} is not ASCII text") from error


def raw_graph(edges: IntArray, features: sp.csr_matrix, labels: IntArray) -> RawGraph:
    """Turn the arrays of a reader into tensors; ``edges`` has one row per edge."""
    pairs = np.ascontiguousarray(edges.reshape(-1, 2).T, dtype=np.int64)
    is_dense = features.nnz > DENSE * features.shape[0] * features.shape[1]
    return RawGraph(
        torch.from_numpy(pairs),
        torch.from_numpy(features.toarray().astype(np.float32))
        if is_dense
        else csr_tensor(features),
        torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64)),
    )


def consistent_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> bool:
    """Tell whether arrays make up a CSR matrix."""
    if data.ndim != 1 or indices.shape != data.shape or indptr.shape != (shape[0] + 1,):
        return False
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        return False
    ends_fit = indptr[0] == 0 and indptr[-1] == data.size and bool((np.diff(indptr) >= 0).all())
    in_range = not indices.size or (indices.min() >= 0 and indices.max() < shape[1])
    return bool(ends_fit and in_range)
