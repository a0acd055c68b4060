"""Graphs of the Open Graph Benchmark: a zip of compressed tables."""

import gzip
import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.readers.raw import MAX_UNPACKED_BYTES, IntArray, Masks, RawGraph, broken, raw_graph

FOLDER, SPLIT = "arxiv", "time"


def read_ogb(path: Path) -> RawGraph:
    """Read the tables of edges, features and labels."""
    edges = _table(path, "raw/edge.csv.gz", np.int64)
    features = _table(path, "raw/node-feat.csv.gz", np.float32)
    labels = _table(path, "raw/node-label.csv.gz", np.int64)
    if edges.shape[1] != 2 or labels.shape != (features.shape[0], 1):
        raise broken(
            path, f"edges {edges.shape}, features {features.shape}, labels {labels.shape}: no graph"
        )
    return raw_graph(edges, sp.csr_matrix(features), labels[:, 0])


def read_ogb_masks(path: Path) -> Masks:
    """Read the split by time."""
    labels = _table(path, "raw/node-label.csv.gz", np.int64)
    parts = (
        _mask(path, _table(path, f"split/{SPLIT}/{part}.csv.gz", np.int64), labels.shape[0])
        for part in ("train", "valid", "test")
    )
    return Masks(*parts)


def _mask(path: Path, nodes: IntArray, count: int) -> NDArray[np.bool_]:
    if nodes.shape[1] != 1 or (nodes < 0).any() or (nodes >= count).any():
        raise broken(path, f"a split names nodes that are none of the {count}")
    mask = np.zeros((1, count), dtype=np.bool_)
    mask[0, nodes[:, 0]] = True
    return mask


def _table(path: Path, name: str, kind: type[np.generic]) -> NDArray[Any]:
    """Return the numbers of a table without a header. Shape ``[rows, columns]``."""
    text = _unpacked(path, f"{FOLDER}/{name}")
    try:
        return np.loadtxt(io.BytesIO(text), kind, comments=None, delimiter=",", ndmin=2)
    except ValueError as error:
        raise broken(path, f"{name} is not a table of numbers ({error})") from error


def _unpacked(path: Path, name: str) -> bytes:
    try:
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(name) as member,
            gzip.open(member) as stream,
        ):
            text = stream.read(MAX_UNPACKED_BYTES + 1)
    except KeyError as error:
        raise broken(path, f"{name} is missing") from error
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise broken(path, f"{name} cannot be unpacked ({error})") from error
    if len(text) > MAX_UNPACKED_BYTES:
        raise broken(path, f"{name} unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MiB")
    return bytes(text)
