"""Graphs of other libraries as ours: PyTorch Geometric, NetworkX, SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.data.readers.raw import csr_tensor
from ppro.errors import DataError
from ppro.graph import Graph
from ppro.labels import encoded, known_labels

MASKS = ("train_mask", "val_mask", "test_mask")


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


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a graph as the other library holds them."""

    name: str
    edges: Tensor
    features: Tensor
    labels: Any = None
    weight: Tensor | None = None
    node_ids: Sequence[str] | None = None
    masks: dict[str, Tensor] = field(default_factory=dict)


def as_graph(
    source: Any,
    labels: Any = None,
    *,
    features: str | Sequence[str] = "x",
    label: str = "y",
    weight: str = "weight",
) -> Graph:
    """A graph of another library as a checked :class:`ppro.Graph`.

    Edges become undirected, duplicates are merged and self-loops dropped. Nodes without a label
    have None, NaN or -1; classes are sorted.

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
    if _is_networkx(source):
        return _taken(_from_networkx(source, features, label, weight), labels, None).graph
    return take(source, labels).graph


def take(source: Any, labels: Any = None, classes: NDArray[Any] | None = None) -> Taken:
    """A graph with its classes and masks.

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
        return Taken(source, np.array(source.class_names))
    codes, found = encoded(*known_labels(labels, source.num_nodes, source.name), None)
    names = _names(source.name, found)
    return Taken(replace(source, labels=codes, class_names=names), found)


def labels_of(source: Any) -> Any:
    """The labels that a source brings, as it writes them; None where it has none."""
    if isinstance(source, Graph):
        names = np.array([*source.class_names, None], dtype=object)
        return names[source.labels.numpy()]
    return parts_of(source).labels


def masks_of(source: Any) -> dict[str, Tensor]:
    """The masks that a source brings."""
    return {} if isinstance(source, Graph) else parts_of(source).masks


def parts_of(source: Any) -> Parts:
    """The parts of a graph of another library.

    Raises:
        DataError: it is no graph that PPro knows.
    """
    if isinstance(source, tuple | list) and len(source) == 2:
        return _from_matrices(*source)
    if _is_networkx(source):
        return _from_networkx(source, "x", "y", "weight")
    if hasattr(source, "edge_index"):
        return _from_data(source)
    raise DataError(
        f"{type(source).__name__} is no graph that PPro knows; give a ppro.Graph, a Data of "
        "PyTorch Geometric, a NetworkX graph or a pair (adjacency, features)"
    )


def as_mask(mask: Any, num_nodes: int, name: str) -> Tensor:
    """A mask of nodes, ``[n]``, ``[k, n]`` or PyTorch Geometric's ``[n, k]``, as ``[k, n]``.

    Raises:
        DataError: it is not of truth values, or of another size.
    """
    array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
    if array.dtype != np.bool_:
        raise DataError(f"{name}: a mask of {array.dtype}; give True or False for each node")
    if array.ndim == 2 and array.shape[0] == num_nodes:
        array = array.T
    array = np.atleast_2d(array)
    if array.ndim != 2 or array.shape[1] != num_nodes or not array.shape[0]:
        raise DataError(f"{name}: a mask of shape {array.shape} for {num_nodes} nodes")
    return torch.from_numpy(np.ascontiguousarray(array))


def _taken(parts: Parts, labels: Any, classes: NDArray[Any] | None) -> Taken:
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
    )
    return Taken(graph, classes, parts.masks)


def _names(name: str, classes: NDArray[Any]) -> tuple[str, ...]:
    if classes.shape[0] < 2:
        found = "no label is known" if not classes.shape[0] else f"only one class, {classes[0]}"
        raise DataError(f"{name}: {found}; node classification needs two classes or more")
    return tuple(map(str, classes.tolist()))


def _from_matrices(adjacency: Any, features: Any) -> Parts:
    name = "matrices"
    matrix = sp.coo_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name}: an adjacency of shape {matrix.shape}; it must be square")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    edges = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    same = bool((matrix.data == 1).all())
    weight = None if same else torch.from_numpy(matrix.data.astype(np.float32))
    found = _matrix(features, name)
    if found.shape[0] != matrix.shape[0]:
        raise DataError(
            f"{name}: {found.shape[0]} rows of features for an adjacency of {matrix.shape[0]} nodes"
        )
    return Parts(name, edges, found, weight=weight)


def _matrix(features: Any, name: str) -> Tensor:
    """Features as a dense or CSR tensor on the CPU."""
    if isinstance(features, Tensor):
        features = features.detach().cpu()
        sparse = features.layout not in (torch.strided, torch.sparse_csr)
        found: Tensor = features.to_sparse_csr() if sparse else features
        return found
    if sp.issparse(features):
        return csr_tensor(features)
    try:
        return torch.from_numpy(np.array(features, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: features are not all numbers ({error})") from None


def _from_data(data: Any) -> Parts:
    name = type(data).__name__
    features, edges = getattr(data, "x", None), data.edge_index
    if features is None or edges is None:
        what = "node features x" if features is None else "edge_index"
        raise DataError(f"{name}: no {what}; PPro needs both features and edges")
    weight = getattr(data, "edge_weight", None)
    found = _matrix(features, name)
    masks = {
        key: as_mask(mask, found.shape[0], f"{name}.{key}")
        for key in MASKS
        if (mask := getattr(data, key, None)) is not None
    }
    return Parts(
        name,
        edges.detach().cpu(),
        found,
        labels=getattr(data, "y", None),
        weight=None if weight is None else weight.detach().cpu(),
        masks=masks,
    )


def _is_networkx(source: Any) -> bool:
    return all(hasattr(source, name) for name in ("nodes", "edges", "adj", "is_multigraph"))


def _from_networkx(graph: Any, features: str | Sequence[str], label: str, weight: str) -> Parts:
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
        _matrix(rows, name),
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
