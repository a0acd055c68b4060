"""Graphs of other libraries as ours: PyTorch Geometric, NetworkX, SciPy."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.compute.precision import as_by_default
from ppro.errors import DataError
from ppro.graph.core import Graph
from ppro.graph.foreign import MASKS, ForeignGraph, as_mask, from_networkx, is_networkx, parts_of
from ppro.graph.labels import encoded, known_labels

__all__ = [
    "MASKS",
    "ForeignGraph",
    "Taken",
    "as_graph",
    "as_mask",
    "labels_of",
    "masks_of",
    "parts_of",
    "take",
]


USUAL = {"features": "x", "label": "y", "weight": "weight"}
"""The attributes of NetworkX that are read unless others are named."""
ELSEWHERE = {"features": "features (x)", "label": "labels (y)", "weight": "edge_weight"}
"""What they are called in other libraries."""


@dataclass(frozen=True, eq=False)
class Taken:
    """A graph that came in, with what the user calls its classes and the masks it brought.

    Args:
        classes: class c of the graph as the user writes it, at position c.
        masks: those of MASKS that the object has. Shapes ``[k, n]``, bool.
    """

    graph: Graph
    classes: NDArray[Any]
    masks: dict[str, Tensor] = field(default_factory=dict)


@as_by_default()
def as_graph(
    source: Any,
    labels: Any = None,
    *,
    features: str | Sequence[str] = "x",
    label: str = "y",
    weight: str = "weight",
) -> Graph:
    """Return a graph of another library as a checked :class:`ppro.Graph`.

    Edges are read both ways unless the setting ``direction`` says otherwise, duplicates are merged
    and self-loops dropped. Nodes without a label have None, NaN or -1; classes are sorted.

    Args:
        source: a ``Data`` of PyTorch Geometric (``x``, ``edge_index``, and where it has them ``y``
            and ``edge_weight``), a NetworkX graph, a pair (adjacency, features) of SciPy or NumPy
            matrices, or a :class:`ppro.Graph`, which stays as it is.
        labels: one for each node, instead of those of the source.
        features: for NetworkX: the node attribute that holds the features, or the names of several
            attributes of one number each.
        label: for NetworkX: the node attribute that holds the label.
        weight: for NetworkX: the edge attribute that holds a weight, used where all edges have it.

    Raises:
        DataError: something is missing, of the wrong shape or not finite; the message says what.
    """
    named = {"features": features, "label": label, "weight": weight}
    if is_networkx(source):
        return _taken(_of_networkx(source, labels, **named), labels, None).graph
    for argument, usual in USUAL.items():
        if named[argument] != usual:
            raise DataError(
                f"{argument}={named[argument]!r} names an attribute of NetworkX, which "
                f"{type(source).__name__} is not; set its own {ELSEWHERE[argument]} instead"
            )
    return take(source, labels).graph


def _of_networkx(source: Any, labels: Any, **named: Any) -> ForeignGraph:
    """Return the parts of a NetworkX graph that has the attributes which the user names."""
    parts, label, weight = from_networkx(source, **named), named["label"], named["weight"]
    if labels is None and parts.labels is None:
        raise DataError(
            f"{parts.name}: no labels: no node has the attribute {label!r}; name the one that "
            "holds them, or give a label for each node that is known"
        )
    if weight != USUAL["weight"] and parts.weight is None and parts.edges.shape[1]:
        raise DataError(
            f"{parts.name}: no edge has the attribute {weight!r}; name the one that holds weights"
        )
    return parts


def take(source: Any, labels: Any = None, classes: NDArray[Any] | None = None) -> Taken:
    """Return a graph with its classes and masks.

    Args:
        source: as for :func:`as_graph`, with the attributes that it names by default.
        labels: one for each node, instead of those of the source.
        classes: the classes of a model that is to be applied. The labels of the source do not
            matter then, and are left out.
    """
    if not isinstance(source, Graph):
        return _taken(parts_of(source), labels, classes)
    if classes is not None:
        names = tuple(map(str, classes.tolist()))
        unknown = torch.full_like(source.labels, -1)
        return Taken(replace(source, labels=unknown, class_names=names), classes)
    if labels is None:
        return Taken(source, np.array(source.class_names), masks_of(source))
    codes, found = encoded(*known_labels(labels, source.num_nodes, source.name), None)
    names = _names(source.name, found)
    return Taken(replace(source, labels=codes, class_names=names), found)


def labels_of(source: Any) -> Any:
    """Return the labels that a source brings, as it writes them; None where it has none."""
    if isinstance(source, Graph):
        names = np.array([*source.class_names, None], dtype=object)
        return names[source.labels.numpy()]
    return parts_of(source).labels


def masks_of(source: Any) -> dict[str, Tensor]:
    """Return the masks that a source brings; a graph from tables may have some."""
    return (
        dict(getattr(source, "masks", {})) if isinstance(source, Graph) else parts_of(source).masks
    )


def _taken(parts: ForeignGraph, labels: Any, classes: NDArray[Any] | None) -> Taken:
    count, name = parts.features.shape[0], parts.name
    labels = parts.labels if labels is None else labels
    if classes is not None:
        codes = torch.full((count,), -1)
    elif labels is None:
        raise DataError(f"{name}: no labels; give one for each node that is known")
    else:
        codes, classes = encoded(*known_labels(labels, count, name), None)
    graph = Graph.build(
        name,
        parts.edges,
        parts.features,
        codes,
        edge_weight=parts.weight,
        class_names=_names(name, classes),
        node_ids=parts.node_ids,
        directed=parts.directed,
    )
    return Taken(graph, classes, parts.masks)


def _names(name: str, classes: NDArray[Any]) -> tuple[str, ...]:
    if classes.shape[0] < 2:
        found = "no label is known" if not classes.shape[0] else f"only one class, {classes[0]}"
        raise DataError(
            f"{name}: {found}; node classification needs two classes or more (-1 is no class, but "
            "a node without a label)"
        )
    return tuple(map(str, classes.tolist()))
