"""Graphs of PyTorch Geometric, NetworkX and SciPy, taken apart; no library is imported."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ppro.compute.sparse import csr_tensor
from ppro.errors import DataError

MASKS = ("train_mask", "val_mask", "test_mask")
NO_NUMBERS = ("c", "m", "M")
"""NumPy's kinds of complex numbers, durations and dates."""
FRAMES = "of tables of nodes and edges give ppro.read_tables(nodes, edges, label=…)"


@dataclass(frozen=True, eq=False)
class ForeignGraph:
    """The parts of a graph as the other library holds them.

    Args:
        masks: those of MASKS that the object has. Shapes ``[k, n]``, bool.
        directed: whether edges point from the first node to the second.
    """

    name: str
    edges: Tensor
    features: Tensor
    labels: Any = None
    weight: Tensor | None = None
    node_ids: Sequence[str] | None = None
    masks: dict[str, Tensor] = field(default_factory=dict)
    directed: bool = True


def as_mask(mask: Any, num_nodes: int, name: str) -> Tensor:
    """Return a mask, ``[n]``, ``[k, n]`` or PyTorch Geometric's ``[n, k]``, as ``[k, n]``."""
    array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
    if array.dtype != np.bool_:
        raise DataError(f"{name}: a mask of {array.dtype}; give True or False for each node")
    if array.ndim == 2 and array.shape[0] == num_nodes:
        array = array.T
    array = np.atleast_2d(array)
    if array.ndim != 2 or array.shape[1] != num_nodes or not array.shape[0]:
        raise DataError(f"{name}: a mask of shape {array.shape} for {num_nodes} nodes")
    # A copy: arrays of pandas may be read-only, which PyTorch does not know.
    return torch.from_numpy(np.array(array, order="C"))


def feature_matrix(features: Any, name: str) -> Tensor:
    """Return features as a dense or CSR tensor on the CPU; what an array masks is NaN."""
    _refuse_kinds(features, f"{name}: features")
    if isinstance(features, Tensor):
        features = features.detach().cpu()
        sparse = features.layout not in (torch.strided, torch.sparse_csr)
        found: Tensor = features.to_sparse_csr() if sparse else features
        return found
    if sp.issparse(features):
        return csr_tensor(features)
    if isinstance(features, np.ma.MaskedArray):
        features = np.where(np.ma.getmaskarray(features), np.nan, np.ma.getdata(features))
    try:
        return torch.from_numpy(np.array(features, dtype=np.float32))
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name}: features are not all numbers ({error})") from None


def _refuse_kinds(values: Any, what: str) -> None:
    """Refuse arrays whose cells would become numbers of another meaning."""
    if isinstance(values, Tensor):
        wrong = values.is_complex()
    else:
        kinds = getattr(values, "dtypes", [getattr(values, "dtype", None)])
        wrong = any(getattr(kind, "kind", "") in NO_NUMBERS for kind in kinds)
    if wrong:
        raise DataError(
            f"{what}: complex numbers, dates or durations; make real numbers of them, such as the "
            "days since some day"
        )


def _tensor(values: Any, what: str) -> Tensor:
    """Return a tensor, or what can become one, on the CPU."""
    if isinstance(values, Tensor):
        return values.detach().cpu()
    try:
        # A copy: arrays may be read-only, which PyTorch does not know.
        return torch.from_numpy(np.array(values))
    except (TypeError, ValueError):
        raise DataError(f"{what}: {type(values).__name__} of no numbers; give a tensor") from None


def from_matrices(adjacency: Any, features: Any) -> ForeignGraph:
    """Return the parts of a graph in two matrices; weights where the entries are not all 1."""
    name = "matrices"
    _refuse_kinds(adjacency, f"{name}: an adjacency")
    matrix = _adjacency_matrix(adjacency, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        remedy = "; an edge_index goes into a Data(x=…, edge_index=…)" * (matrix.shape[:1] == (2,))
        raise DataError(f"{name}: an adjacency of shape {matrix.shape}; it must be square{remedy}")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    edges = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    same = bool((matrix.data == 1).all())
    weight = None if same else torch.from_numpy(matrix.data.astype(np.float32))
    found = feature_matrix(features, name)
    if found.shape[0] != matrix.shape[0]:
        raise DataError(
            f"{name}: {found.shape[0]} rows of features for an adjacency of {matrix.shape[0]} nodes"
        )
    return ForeignGraph(name, edges, found, weight=weight)


def _adjacency_matrix(adjacency: Any, name: str) -> Any:
    """Return an adjacency matrix of SciPy, NumPy or PyTorch as a SciPy array."""
    if isinstance(adjacency, Tensor):
        found = adjacency.detach().cpu().to_sparse(layout=torch.sparse_coo).coalesce()
        values = found.values()
        # SciPy has no half precision.
        values = values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
        parts = values.numpy(), tuple(found.indices().numpy())
        return sp.coo_array(parts, shape=tuple(found.shape))
    try:
        half = getattr(adjacency, "dtype", None) in (np.float16, np.object_)
        return sp.coo_array(adjacency.astype(np.float64) if half else adjacency)
    except (TypeError, ValueError):
        hint = f"; {FRAMES}" if hasattr(adjacency, "iloc") else ""
        raise DataError(
            f"{name}: {type(adjacency).__name__} is no adjacency matrix; give one of SciPy, NumPy "
            f"or PyTorch, and features{hint}"
        ) from None


def is_networkx(source: Any) -> bool:
    """Tell whether an object is a graph of NetworkX, which need not be installed to tell."""
    return all(hasattr(source, name) for name in ("nodes", "edges", "adj", "is_multigraph"))


def from_networkx(
    graph: Any,
    features: str | Sequence[str] = "x",
    label: str = "y",
    weight: str = "weight",
) -> ForeignGraph:
    """Return the parts of a NetworkX graph.

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
    return ForeignGraph(
        name,
        torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous(),
        feature_matrix(rows, name),
        labels=labels if any(value is not None for value in labels) else None,
        weight=_edge_weights(name, graph, weight),
        node_ids=[str(node) for node in graph],
        directed=bool(graph.is_directed()),
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
        given = values[features]
        given = given.detach().cpu() if isinstance(given, Tensor) else given
        return list(np.atleast_1d(given).tolist())
    return [values[key] for key in wanted]


def _edge_weights(name: str, graph: Any, weight: str) -> Tensor | None:
    found = [value for *_, value in graph.edges(data=weight)]
    if all(value is None for value in found):
        return None
    if any(value is None for value in found):
        raise DataError(f"{name}: some edges have no {weight!r}; give all of them one, or none")
    try:
        return torch.tensor(found, dtype=torch.float32)
    except (TypeError, ValueError):
        strange = next(value for value in found if not isinstance(value, int | float))
        raise DataError(
            f"{name}: an edge has the {weight} {strange!r}; give numbers, or name the attribute "
            "that holds them: ppro.as_graph(graph, weight=…)"
        ) from None


def edge_weight_of(data: Any) -> Tensor | None:
    """Return the weights of the edges of a Data: ``edge_weight``, or ``edge_attr`` as one.

    A column of positive numbers that are not whole can only be meant as weights. Other attributes
    of edges are not used, and a warning says so.
    """
    weight, attribute = (getattr(data, name, None) for name in ("edge_weight", "edge_attr"))
    if weight is not None:
        return _one_column(_tensor(weight, "edge_weight"))
    if attribute is None:
        return None
    attribute = _tensor(attribute, "edge_attr")
    flat = _one_column(attribute)
    if flat.dim() == 1 and flat.is_floating_point() and bool((flat > 0).all()):
        return flat
    warnings.warn(
        f"edge_attr of shape {tuple(attribute.shape)} is not used: an edge has one weight, a "
        "positive number; set edge_weight, or leave edge_attr out",
        stacklevel=2,
    )
    return None


def _one_column(values: Tensor) -> Tensor:
    return values.squeeze(1) if values.dim() == 2 and values.shape[1] == 1 else values


def from_data(data: Any) -> ForeignGraph:
    """Return the parts of a Data, or of anything with attributes of the same names."""
    name = type(data).__name__
    features, edges = getattr(data, "x", None), data.edge_index
    if features is None:
        raise DataError(
            f"{name}: no node features x; give each node some, such as its degree, or a one "
            "of its own: x=torch.eye(n)"
        )
    if edges is None:
        has = getattr(data, "adj_t", None) is not None
        remedy = "keep it: ToSparseTensor(remove_edge_index=False)" if has else "set it"
        raise DataError(f"{name}: no edge_index; {remedy}")
    found = feature_matrix(features, name)
    masks = {
        key: as_mask(mask, found.shape[0], f"{name}.{key}")
        for key in MASKS
        if (mask := getattr(data, key, None)) is not None
    }
    return ForeignGraph(
        name,
        _tensor(edges, f"{name}.edge_index"),
        found,
        labels=getattr(data, "y", None),
        weight=edge_weight_of(data),
        masks=masks,
    )


def parts_of(source: Any) -> ForeignGraph:
    """Return the parts of a graph of another library."""
    if isinstance(source, tuple | list) and len(source) == 2:
        return from_matrices(*source)
    if is_networkx(source):
        return from_networkx(source)
    if hasattr(source, "edge_index"):
        return from_data(source)
    if hasattr(source, "iloc"):
        raise DataError(f"{type(source).__name__}: a table alone; {FRAMES}")
    several = hasattr(source, "edge_types") and hasattr(source, "to_homogeneous")
    remedy = ", such as data.to_homogeneous() with features for all nodes" if several else ""
    raise DataError(
        f"{type(source).__name__} is no graph that PPro knows; give a ppro.Graph, a Data of "
        f"PyTorch Geometric{remedy}, a NetworkX graph or a pair (adjacency, features)"
    )
