"""WikiCS, one file of JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.readers.raw import BoolArray, Masks, RawGraph, broken, file_bytes, raw_graph


def read_wiki_cs(path: Path) -> RawGraph:
    """Read ``features``, ``labels`` and ``links``, the neighbours of each node."""
    found = _load(path)
    features = _array(path, found, "features", np.float32, 2)
    labels = _array(path, found, "labels", np.int64, 1)
    links = found.get("links")
    if not isinstance(links, list) or not all(isinstance(row, list) for row in links):
        raise broken(path, "links are not one list of nodes for each node")
    sizes = len(features), len(labels), len(links)
    if len(set(sizes)) != 1:
        raise broken(path, f"features, labels and links of {sizes} nodes")
    source = np.repeat(np.arange(len(links)), [len(row) for row in links])
    target = [node for row in links for node in row]
    edges = _array(path, {"links": [target]}, "links", np.int64, 2)
    return raw_graph(np.stack([source, edges[0]], 1), sp.csr_matrix(features), labels)


def read_wiki_cs_masks(path: Path) -> Masks:
    """Read the twenty splits; the nodes meant for early stopping validate with the others."""
    found = _load(path)
    train, val, stop = (
        _mask(path, found, key, 2) for key in ("train_masks", "val_masks", "stopping_masks")
    )
    test = _mask(path, found, "test_mask", 1)
    if not train.shape == val.shape == stop.shape or train.shape[1:] != test.shape:
        raise broken(path, "its masks do not have one row per split and one column per node")
    return Masks(train, val | stop, np.broadcast_to(test, train.shape))


def _load(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file_bytes(path))
    except (ValueError, RecursionError) as error:
        raise broken(path, f"not readable JSON ({error})") from error
    if not isinstance(found, dict):
        raise broken(path, "its JSON is not an object")
    return found


def _array(
    path: Path, found: Mapping[str, Any], key: str, kind: type[np.generic], dimensions: int
) -> NDArray[Any]:
    try:
        made = np.array(found[key], dtype=kind)
    except KeyError as error:
        raise broken(path, f"{key} is missing") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise broken(path, f"{key} is not made of numbers ({error})") from error
    if made.ndim != dimensions:
        raise broken(path, f"{key} has {made.ndim} dimensions instead of {dimensions}")
    return made


def _mask(path: Path, found: Mapping[str, Any], key: str, dimensions: int) -> BoolArray:
    return _array(path, found, key, np.bool_, dimensions)
