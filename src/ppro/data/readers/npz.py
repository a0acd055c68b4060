"""The npz format of the heterophilous-graphs collection (Platonov et al., 2023)."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.readers.raw import (
    MAX_UNPACKED_BYTES,
    BoolArray,
    IntArray,
    Masks,
    RawGraph,
    broken,
    raw_graph,
)


def read_npz(path: Path) -> RawGraph:
    """Read ``edges``, ``node_features`` and ``node_labels``."""
    edges, features, labels = npz_arrays(path, ("edges", "node_features", "node_labels"))
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise broken(path, f"edges have shape {edges.shape}, expected two columns of nodes")
    if features.ndim != 2 or labels.shape != features.shape[:1] or labels.dtype.kind not in "iu":
        raise broken(path, f"features {features.shape} and labels {labels.shape} do not fit")
    return raw_graph(edges, sp.csr_matrix(features), labels)


def read_npz_masks(path: Path) -> Masks:
    """Read ``train_masks``, ``val_masks`` and ``test_masks``."""
    parts = npz_arrays(path, ("train_masks", "val_masks", "test_masks"))
    if any(part.ndim != 2 or part.shape != parts[0].shape for part in parts):
        raise broken(path, "its masks do not have one row per split and one column per node")
    train, val, test = (part.astype(np.bool_) for part in parts)
    return Masks(train, val, test)


def npz_arrays(path: Path, names: Sequence[str]) -> list[NDArray[Any]]:
    """Return named arrays of an npz file; a pickled or oversized member is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_UNPACKED_BYTES:
            raise broken(path, f"unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MiB")
        with np.load(path, allow_pickle=False) as arrays:
            return [arrays[name] for name in names]
    except KeyError as error:
        raise broken(path, f"an array is missing ({error.args[0]})") from error
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise broken(path, f"not a readable npz file ({error})") from error


def first_of_their_kind(edges: IntArray, labels: IntArray) -> BoolArray:
    """Return which nodes share their label and all neighbours with no earlier node.

    Args:
        edges: pairs of nodes, in any direction. Shape ``[E, 2]``.
    """
    neighbours: list[set[int]] = [set() for _ in labels]
    for source, target in edges.tolist():
        neighbours[source].add(target)
        neighbours[target].add(source)
    seen: set[tuple[int, frozenset[int]]] = set()
    kept = np.zeros(len(labels), dtype=np.bool_)
    for node, label in enumerate(labels.tolist()):
        kind = label, frozenset(neighbours[node])
        kept[node] = kind not in seen
        seen.add(kind)
    return kept


def read_deduplicated(path: Path) -> RawGraph:
    """Return the graph that the kept nodes induce."""
    read_npz(path)  # for its checks
    edges, features, labels = npz_arrays(path, ("edges", "node_features", "node_labels"))
    kept = first_of_their_kind(edges, labels)
    number = np.cumsum(kept) - 1
    inside = kept[edges].all(1)
    return raw_graph(number[edges[inside]], sp.csr_matrix(features[kept]), labels[kept])


def read_deduplicated_masks(path: Path) -> Masks:
    """Return the masks of the kept nodes."""
    edges, labels = npz_arrays(path, ("edges", "node_labels"))
    kept, masks = first_of_their_kind(edges, labels), read_npz_masks(path)
    return Masks(masks.train[:, kept], masks.val[:, kept], masks.test[:, kept])
