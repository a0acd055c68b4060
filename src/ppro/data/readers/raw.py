"""What every reader returns, and the checks that all formats share."""

from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, eq=False)
class RawGraph:
    """Edges as the file lists them, features and labels, before ``Graph.build``.

    Args:
        edges: pairs of nodes, in any direction. Shape ``[2, E]``.
        features: sparse CSR. Shape ``[n, f]``, float32.
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
    return RawGraph(
        torch.from_numpy(pairs),
        csr_tensor(features),
        torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64)),
    )
