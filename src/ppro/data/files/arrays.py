"""A graph from named arrays, as npz and safetensors files hold them.

======================================  ==========================================================
name, or PyTorch Geometric's            content
======================================  ==========================================================
``edges`` / ``edge_index``              whole numbers, shape ``[E, 2]`` / ``[2, E]``
``node_features`` / ``x``               numbers, shape ``[n, f]``
``node_labels`` / ``y``                 whole numbers from 0, -1 for no label; or text. ``[n]``
``edge_weights`` / ``edge_weight``      positive numbers, shape ``[E]``; optional
``train_masks`` / ``train_mask``        truth values, ``[runs, n]`` / ``[n]`` or ``[n, runs]``;
and likewise ``val`` and ``test``       optional
``node_ids``, ``class_names``           text, shapes ``[n]`` and ``[c]``; optional
======================================  ==========================================================
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ppro.data.files.encoding import as_tensor
from ppro.data.files.reading import FileParts, Reading, finished
from ppro.data.files.schema import Schema
from ppro.data.readers.raw import IntArray, Masks
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

Arrays = Mapping[str, NDArray[Any]]

MAX_CLASSES = 2**16
LAST_CHARACTER = 0x10FFFF
MASKS = tuple(f"{part}_{mask}" for part in ("train", "val", "test") for mask in ("mask", "masks"))
KNOWN = (
    *("edges", "edge_index", "node_features", "x", "node_labels", "y", "edge_weights"),
    *("edge_weight", "node_ids", "class_names", *MASKS),
)


def from_arrays(
    path: Path, arrays: Arrays, schema: Schema | None = None, features: Tensor | None = None
) -> Reading:
    """Return the graph that the arrays of a file make.

    Args:
        schema: that of a training; then labels are not needed.
        features: given apart from the arrays where they are sparse.
    """
    features = _features(path, arrays) if features is None else features
    num_nodes = int(features.shape[0])
    edges = _edges(path, arrays, num_nodes)
    labels, names = _labels(path, arrays, num_nodes, schema)
    new = schema is not None
    if schema is None:
        schema = Schema(kind="arrays", num_features=int(features.shape[1]), class_names=names)
    check_width(path, int(features.shape[1]), schema)
    ids = _texts(path, arrays, "node_ids", num_nodes)
    weights = _either(arrays, "edge_weights", "edge_weight")
    parts = FileParts(
        path.stem,
        edges,
        features,
        labels,
        None if weights is None else _numbers(path, "edge_weights", weights, (len(edges),)),
        ids,
    )
    masks = _masks(path, arrays, num_nodes)
    return finished(path, parts, schema, masks, _unused(path, arrays), new=new)


def _unused(path: Path, arrays: Arrays) -> tuple[str, ...]:
    """Return a note on arrays that are no part of a graph here, such as edge_attr."""
    rest = [name for name in arrays if name not in KNOWN]
    which = f"array {rest[0]} is" if len(rest) == 1 else f"arrays {', '.join(rest[:5])} are"
    return (f"{path}: {which} not used",) if rest else ()


def check_width(path: Path, width: int, schema: Schema) -> None:
    """Refuse features that a trained model has no weights for."""
    if schema.kind != "arrays":
        names = ", ".join(column.name for column in schema.columns[:3])
        raise DataError(
            f"{path}: an array has no columns, and the run was trained on columns ({names} …); "
            "give tables with --nodes and --edges"
        )
    if width != schema.num_features:
        raise DataError(
            f"{path}: {width} features per node, but the run was trained with "
            f"{schema.num_features}; bring the same features in the same order"
        )


def _either(arrays: Arrays, *names: str) -> NDArray[Any] | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _needed(path: Path, arrays: Arrays, *names: str) -> NDArray[Any]:
    found = _either(arrays, *names)
    if found is None:
        has = ", ".join(sorted(arrays)) or "nothing"
        raise DataError(f"{path}: no array {names[0]} (or {names[1]}), it has {has}; add it")
    return found


def _edges(path: Path, arrays: Arrays, num_nodes: int) -> IntArray:
    found = _needed(path, arrays, "edges", "edge_index")
    if "edges" not in arrays:
        found = found.T
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise DataError(
            f"{path}: edges of shape {found.shape} and type {found.dtype}; give whole numbers of "
            "shape [E, 2] as edges or [2, E] as edge_index"
        )
    outside = ((found < 0) | (found >= num_nodes)).any(1)
    if outside.any():
        row = int(outside.argmax())
        raise DataError(
            f"{path}: edge {row} joins {found[row, 0]} and {found[row, 1]}, but nodes count from 0 "
            f"to {num_nodes - 1}; correct or drop such edges"
        )
    return np.ascontiguousarray(found, dtype=np.int64)


def _features(path: Path, arrays: Arrays) -> Tensor:
    found = _needed(path, arrays, "node_features", "x")
    if found.ndim != 2 or found.dtype.kind not in "biuf" or not found.size:
        raise DataError(
            f"{path}: node_features of shape {found.shape} and type {found.dtype}; give numbers "
            "of shape [n, f]"
        )
    with np.errstate(over="ignore"):
        values = found.astype(np.float32)
    check_values(path, values)
    return as_tensor(values)


def check_values(path: Path, values: NDArray[np.float32]) -> None:
    """Refuse NaN and infinite features; the message names the first. Shape ``[n, f]``."""
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"{path}: feature {column} of node {row} is {values[row, column]}; fill it in, or "
            "save the nodes as a table, where missing cells become the mean"
        )


def _labels(
    path: Path, arrays: Arrays, num_nodes: int, schema: Schema | None
) -> tuple[IntArray, tuple[str, ...]]:
    if schema is not None and _either(arrays, "node_labels", "y") is None:
        return np.full(num_nodes, UNLABELLED, dtype=np.int64), schema.class_names
    found = _needed(path, arrays, "node_labels", "y")
    found = _as_strings(path, "node_labels", found)
    if found.shape != (num_nodes,) or found.dtype.kind not in "iuO":
        raise DataError(
            f"{path}: node_labels of shape {found.shape} and type {found.dtype}; give one whole "
            f"number or text for each of the {num_nodes} nodes"
        )
    if found.dtype.kind == "O":
        return _named_labels(found, schema)
    if found.dtype.kind == "u" and found.max() > np.iinfo(np.int64).max:
        raise DataError(f"{path}: label {found.max()}; number the classes from 0")
    return _numbered_labels(path, arrays, found.astype(np.int64), schema)


def _named_labels(found: NDArray[Any], schema: Schema | None) -> tuple[IntArray, tuple[str, ...]]:
    names = tuple(sorted(set(found.tolist()) - {""})) if schema is None else schema.class_names
    code = {name: c for c, name in enumerate(names)}
    return np.array([code.get(name, UNLABELLED) for name in found.tolist()], dtype=np.int64), names


def _numbered_labels(
    path: Path, arrays: Arrays, labels: IntArray, schema: Schema | None
) -> tuple[IntArray, tuple[str, ...]]:
    if schema is not None:
        return np.where(labels < len(schema.class_names), labels, UNLABELLED), schema.class_names
    count = int(labels.max()) + 1
    if count > MAX_CLASSES:
        raise DataError(
            f"{path}: label {count - 1} of node {int(labels.argmax())}; number the classes from 0 "
            f"(at most {MAX_CLASSES:,})"
        )
    names = _texts(path, arrays, "class_names", None)
    return labels, names or tuple(str(c) for c in range(count))


def _numbers(
    path: Path, name: str, found: NDArray[Any], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    if found.shape != shape or found.dtype.kind not in "iuf":
        raise DataError(f"{path}: {name} of shape {found.shape}; give numbers of shape {shape}")
    return found.astype(np.float64)


def _texts(path: Path, arrays: Arrays, name: str, length: int | None) -> tuple[str, ...] | None:
    found = arrays.get(name)
    if found is None:
        return None
    found = _as_strings(path, name, found)
    if found.ndim != 1 or found.dtype.kind not in "Oiu" or len(found) != (length or len(found)):
        raise DataError(f"{path}: {name} of shape {found.shape}; give one text each")
    return tuple(str(value) for value in found.tolist())


def _as_strings(path: Path, name: str, found: NDArray[Any]) -> NDArray[Any]:
    """Return an array of text as objects, each no longer than it is; other arrays as they are."""
    if found.dtype.kind != "U":
        return found
    plain = np.ascontiguousarray(found, dtype=found.dtype.newbyteorder("="))
    if plain.size and plain.itemsize and plain.view(np.uint32).max() > LAST_CHARACTER:
        raise DataError(f"{path}: {name} holds characters that there are none; write it again")
    return np.array(plain.tolist(), dtype=object)


def _masks(path: Path, arrays: Arrays, num_nodes: int) -> Masks | None:
    found = {part: _mask(path, arrays, part, num_nodes) for part in ("train", "val", "test")}
    train, val, test = found["train"], found["val"], found["test"]
    if train is None or val is None or test is None:
        given = [part for part, mask in found.items() if mask is not None]
        if given:
            raise DataError(f"{path}: a mask for {', '.join(given)} only; give train, val and test")
        return None
    if not train.shape == val.shape == test.shape:
        raise DataError(f"{path}: masks of different shapes; give each the same number of runs")
    return Masks(train, val, test)


def _mask(path: Path, arrays: Arrays, part: str, num_nodes: int) -> NDArray[np.bool_] | None:
    by_node = arrays.get(f"{part}_mask")
    found = arrays.get(f"{part}_masks", None if by_node is None else by_node.T)
    if found is None:
        return None
    found = np.atleast_2d(found)
    if (
        found.ndim != 2
        or found.shape[1] != num_nodes
        or found.dtype.kind not in "biu"
        or not len(found)
    ):
        raise DataError(
            f"{path}: {part} mask of shape {found.shape} and type {found.dtype}; give a truth "
            f"value for each of the {num_nodes} nodes"
        )
    return np.ascontiguousarray(found, dtype=np.bool_)
