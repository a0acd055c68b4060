"""What a training was made of, in a few short texts: equal texts, equal training."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone

BLOCK_ROWS = 65_536
"""Rows of features in a file that are looked at at a time."""

Fingerprint = dict[str, str]
"""One text for each part of a training, by the name that a message calls it."""


def fingerprint(
    graph: Graph,
    splits: Splits,
    settings: Sequence[Settings],
    backbone: OwnBackbone | None,
    class_weight: Tensor | None,
) -> Fingerprint:
    """Return the parts that must be the same for a training to go on."""
    names = "\n".join(graph.class_names)
    # The direction of edges is a part of a training only where they are read one way.
    is_directed = any(one.inputs.direction != "both" for one in settings)
    arcs = [graph.arcs] if is_directed and graph.arcs is not None else []
    content = digest(chain(_tensors(graph), arcs), names)
    return {"graph": content, **without_graph(splits, settings, backbone, class_weight)}


def without_graph(
    splits: Splits,
    settings: Sequence[Settings],
    backbone: OwnBackbone | None,
    class_weight: Tensor | None,
) -> Fingerprint:
    """Return the parts of a fingerprint that are quickly made."""
    weights = [] if class_weight is None else [class_weight]
    own = "" if backbone is None else _described(backbone)
    return {
        "settings": "\n".join(json.dumps(_told(s)) for s in settings),
        "splits": digest([splits.train, splits.val, splits.test]),
        "backbone": hashlib.sha256(own.encode()).hexdigest(),
        "class weights": digest(weights),
    }


def _told(settings: Settings) -> dict[str, Any]:
    """Return all settings, the direction of edges only where they are read one way."""
    found = settings.flat()
    return {k: v for k, v in found.items() if (k, v) != ("direction", "both")}


def differing(one: Fingerprint, other: Fingerprint) -> str:
    """Return the parts in which two differ, for a message; of the settings their keys."""
    parts = {part for part in one.keys() | other.keys() if one.get(part) != other.get(part)}
    if "settings" in parts:
        # What a file says of settings may be anything.
        with suppress(ValueError, TypeError, AttributeError, KeyError):
            lines = [f["settings"].splitlines() for f in (one, other)]
            runs = zip(*([json.loads(line) for line in part] for part in lines), strict=False)
            keys = {key for a, b in runs for key in a.keys() | b.keys() if a.get(key) != b.get(key)}
            parts = (parts - {"settings"}) | (keys or {"number of runs"})
    return ", ".join(sorted(parts))


def _described(backbone: OwnBackbone) -> str:
    if isinstance(backbone, type):
        return f"{backbone.__module__}.{backbone.__qualname__}"
    return repr(backbone if isinstance(backbone, torch.nn.Module) else list(backbone))


def _tensors(graph: Graph) -> Iterable[Tensor]:
    if isinstance(graph, LargeGraph):
        yield from (graph.starts, graph.columns, graph.labels)
        yield from map(graph.rows.read, row_blocks(graph.num_nodes, BLOCK_ROWS))
        return
    yield from (graph.edge_index, graph.labels)
    if graph.edge_weight is not None:
        yield graph.edge_weight
    if graph.features.layout == torch.sparse_csr:
        yield graph.features.crow_indices()
        yield graph.features.col_indices()
        yield graph.features.values()
    else:
        yield graph.features


def digest(tensors: Iterable[Tensor], text: str = "") -> str:
    """Return the SHA-256 over types, shapes and values."""
    found = hashlib.sha256(text.encode())
    for tensor in tensors:
        array = tensor.detach().cpu().contiguous().numpy()
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.data)
    return found.hexdigest()
