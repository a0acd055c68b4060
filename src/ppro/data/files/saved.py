"""A graph in one safetensors file: tensors and JSON, nothing that could run.

The tensors carry PyTorch Geometric's names (see :mod:`ppro.data.files.arrays`). Sparse features are
kept as ``x.crow_indices``, ``x.col_indices`` and ``x.values``. The metadata hold one key, ``ppro``,
with a JSON object: ``format`` (1), ``num_features``, and where there are any ``name``,
``class_names`` and ``node_ids``.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ppro.data.files.arrays import from_arrays
from ppro.data.files.guard import FACTOR, check_file
from ppro.data.files.reading import Reading
from ppro.data.files.schema import Schema
from ppro.data.splits import Splits
from ppro.errors import DataError
from ppro.graph.core import Graph
from ppro.graph.direction import read_edges
from ppro.graph.foreign import edge_weight_of

FORMAT = 1
LONGEST = 200
MAX_EMPTY = 65_536
"""Features of a sparse matrix that may be there without a value."""
KEY = "ppro"
CSR = ("x.crow_indices", "x.col_indices", "x.values")
MASKS = ("train_mask", "val_mask", "test_mask")
TENSORS = ("edge_index", "edge_weight", "x", "y", *MASKS)


def save_graph(path: Path | str, graph: Any, splits: Splits | None = None) -> None:
    """Write a graph to a file that ``ppro train`` reads, without pickle.

    Args:
        path: the file, whose name should end in ``.safetensors``.
        graph: a :class:`ppro.graph.core.Graph`, or a ``Data`` of PyTorch Geometric, of which
            ``edge_index``, ``edge_weight``, ``x``, ``y`` and the masks are kept.
        splits: the masks of a :class:`ppro.graph.core.Graph`, where it has any.

    Raises:
        DataError: there is no edge_index or no x.
    """
    tensors, facts = _of_graph(graph) if isinstance(graph, Graph) else _of_data(graph)
    if splits is not None:
        masks = (splits.train, splits.val, splits.test)
        tensors |= {name: mask.t() for name, mask in zip(MASKS, masks, strict=True)}
    if not {"edge_index", "x"} <= tensors.keys():
        raise DataError(f"{path}: a graph needs edge_index and x; set them before saving")
    facts |= {"format": FORMAT, "num_features": int(tensors["x"].shape[1])}
    save_file(_dense(tensors), str(path), metadata={KEY: json.dumps(facts)})


def read_saved(path: Path, schema: Schema | None = None) -> Reading:
    """Read what :func:`save_graph` wrote."""
    check_file(path)
    try:
        with safe_open(str(path), framework="pt") as file:
            facts = _facts(path, (file.metadata() or {}).get(KEY))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:LONGEST]
        raise DataError(
            f"{path}: not a readable safetensors file ({reason}); save it again"
        ) from None
    features = None
    if all(name in tensors for name in CSR):
        features = _csr(path, [tensors.pop(name) for name in CSR], facts["num_features"])
    arrays = {name: _numpy(path, name, tensor) for name, tensor in tensors.items()}
    for name in ("class_names", "node_ids"):
        if facts.get(name):
            # As objects: an array of text would give each the room of the longest.
            arrays[name] = np.array(facts[name], dtype=object)
    return from_arrays(path, arrays, schema, features)


def _of_graph(graph: Graph) -> tuple[dict[str, Tensor], dict[str, Any]]:
    edges, weight = read_edges(graph, "out")
    tensors = {"edge_index": edges, "x": graph.features, "y": graph.labels}
    if weight is not None:
        tensors["edge_weight"] = weight
    facts: dict[str, Any] = {"name": graph.name, "class_names": graph.class_names}
    return tensors, facts | ({"node_ids": graph.node_ids} if graph.node_ids else {})


def _of_data(data: Any) -> tuple[dict[str, Tensor], dict[str, Any]]:
    found = {name: getattr(data, name, None) for name in TENSORS}
    tensors = {name: value for name, value in found.items() if isinstance(value, Tensor)}
    weight = edge_weight_of(data)
    return tensors | ({} if weight is None else {"edge_weight": weight}), {}


def _dense(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    flat: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.layout == torch.strided:
            flat[name] = tensor.detach().cpu().contiguous()
        else:
            csr = tensor.detach().cpu().to_sparse_csr()
            flat |= dict(
                zip(CSR, (csr.crow_indices(), csr.col_indices(), csr.values()), strict=True)
            )
    return {name: tensor.clone() for name, tensor in flat.items()}


def _facts(path: Path, text: str | None) -> dict[str, Any]:
    if text is None:
        return {"format": FORMAT}
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or not _well_formed(facts):
        raise DataError(
            f"{path}: its metadata are not those of format {FORMAT}; save it again with "
            "ppro.data.save_graph"
        )
    return facts


def _well_formed(facts: dict[str, Any]) -> bool:
    lists = [facts.get(name) or [] for name in ("class_names", "node_ids")]
    texts = all(isinstance(names, list) and all(map(_is_text, names)) for names in lists)
    return texts and type(facts.get("num_features")) is int and facts["num_features"] > 0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _csr(path: Path, parts: list[Tensor], num_features: Any) -> Tensor:
    crow, col, values = parts
    if type(num_features) is not int:
        raise DataError(f"{path}: sparse features without num_features; save it again")
    if num_features > max(MAX_EMPTY, FACTOR * values.numel()):
        raise DataError(
            f"{path}: {num_features:,} features for {values.numel():,} values; leave out features "
            "that no node has"
        )
    try:
        size = (crow.numel() - 1, num_features)
        made = torch.sparse_csr_tensor(
            crow, col, values.to(torch.float32), size=size, check_invariants=True
        )
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{path}: its sparse features are inconsistent ({reason}); save it again"
        ) from None
    return made


def _numpy(path: Path, name: str, tensor: Tensor) -> Any:
    """Return a tensor as an array; NumPy has no bfloat16, nor smaller floats."""
    if tensor.dtype.is_complex:
        raise DataError(f"{path}: {name} holds {tensor.dtype}; save real numbers")
    known = tensor.dtype in (torch.float16, torch.float32, torch.float64)
    try:
        return (tensor.float() if tensor.is_floating_point() and not known else tensor).numpy()
    except (TypeError, RuntimeError):
        raise DataError(f"{path}: {name} holds {tensor.dtype}; save usual numbers") from None
