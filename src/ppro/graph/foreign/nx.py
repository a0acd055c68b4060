"""A graph of NetworkX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ppro.errors import DataError
from ppro.graph.foreign.parts import Parts, feature_matrix


def is_networkx(source: Any) -> bool:
    """Whether an object is a graph of NetworkX, which need not be installed to tell."""
    return all(hasattr(source, name) for name in ("nodes", "edges", "adj", "is_multigraph"))


def from_networkx(
    graph: Any,
    features: str | Sequence[str] = "x",
    label: str = "y",
    weight: str = "weight",
) -> Parts:
    """The parts of a NetworkX graph.

    Args:
        features: the node attribute of the features, or the names of several of one number each.
        label: the node attribute of the label.
        weight: the edge attribute of the weight.
    """
    name = str(graph.name or "NetworkX graph")
    place = {node: row for row, node in enumerate(graph)}
    if not place:
        raise DataError(f"{name}: no nodes")
    rows = [_attributes(name, node, values, features) for node, values in graph.nodes(data=True)]
    if len({len(row) for row in rows}) > 1:
        raise DataError(f"{name}: nodes have different numbers of features; give all the same")
    pairs = [(place[u], place[v]) for u, v in graph.edges()]
    labels = [values.get(label) for _, values in graph.nodes(data=True)]
    return Parts(
        name,
        torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous(),
        feature_matrix(rows, name),
        labels=labels if any(value is not None for value in labels) else None,
        weight=_edge_weights(name, graph, weight),
        node_ids=[str(node) for node in graph],
    )


def _attributes(
    name: str, node: Any, values: dict[str, Any], features: str | Sequence[str]
) -> list[Any]:
    wanted = [features] if isinstance(features, str) else list(features)
    for key in wanted:
        if key not in values:
            has = ", ".join(map(str, values)) or "none"
            raise DataError(
                f"{name}: node {node!r} has no attribute {key!r} (it has {has}); name those that "
                "hold the features: ppro.as_graph(graph, features=…)"
            )
    if isinstance(features, str):
        return list(np.atleast_1d(values[features]).tolist())
    return [values[key] for key in wanted]


def _edge_weights(name: str, graph: Any, weight: str) -> Tensor | None:
    found = [value for *_, value in graph.edges(data=weight)]
    if all(value is None for value in found):
        return None
    if any(value is None for value in found):
        raise DataError(f"{name}: some edges have no {weight!r}; give all of them one, or none")
    return torch.tensor(found, dtype=torch.float32)
