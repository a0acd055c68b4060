"""The validated, frozen graph that every other part of the package takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.errors import DataError

UNLABELLED = -1
LONGEST_TEXT = 4096
"""Characters of the name of a class and of the id of a node, at most."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph without self-loops, its node features and its node labels.

    Edges are stored both ways; ``arcs`` keeps their direction where they have one.

    Build one with :meth:`Graph.build`, which checks its arguments and brings the edges into
    the stored form; the bare constructor trusts its caller.

    Args:
        name: a short name, shown in results.
        edge_index: both directions of every edge, no self-loop, no duplicate, sorted by row.
            Shape ``[2, E]``, int64.
        edge_weight: one weight per column of ``edge_index``, or None for an unweighted graph.
        features: node features, a dense tensor or a sparse CSR tensor. Shape ``[n, f]``, float32.
        labels: class of each node, or -1 where it is not known. Shape ``[n]``, int64.
        class_names: the name of class c at position c.
        node_ids: the user's id of each node, or None when ids are 0 .. n-1.
        arcs: whether the input has an edge from the first to the second node of each column of
            ``edge_index``, bool; with weights the weight that it has in this direction, 0 where
            there is none, float32. None for an undirected graph. Shape ``[E]``.
    """

    name: str
    edge_index: Tensor
    edge_weight: Tensor | None
    features: Tensor
    labels: Tensor
    class_names: tuple[str, ...]
    node_ids: tuple[str, ...] | None = None
    arcs: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.labels.shape[0])

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.edge_index.shape[1]) // 2

    @property
    def one_way(self) -> float:
        """Share of the edges of the input that have no opposite one; 0 for an undirected graph."""
        if self.arcs is None:
            return 0.0
        listed = int(self.arcs.count_nonzero())
        return (2 * self.num_edges - listed) / listed

    @property
    def num_features(self) -> int:
        """Number of features, f."""
        return int(self.features.shape[1])

    @property
    def filled_features(self) -> int:
        """Number of features of all nodes that are not zero."""
        x = self.features
        return x.values().numel() if x.layout == torch.sparse_csr else int(x.count_nonzero())

    @property
    def num_classes(self) -> int:
        """Number of classes, c."""
        return len(self.class_names)

    @classmethod
    def build(
        cls,
        name: str,
        edges: Tensor,
        features: Tensor,
        labels: Tensor,
        *,
        edge_weight: Tensor | None = None,
        class_names: Sequence[str] | None = None,
        node_ids: Sequence[str] | None = None,
        directed: bool | None = None,
    ) -> Graph:
        """Check the parts of a graph and bring them into the stored form.

        Edges may come in one or both directions, repeated, and with self-loops: they are stored
        both ways, duplicates are merged (weights: the largest is kept) and self-loops dropped.

        Args:
            directed: whether edges point from the first node to the second, which ``arcs`` then
                keeps. None for a list that does not say: its edges do where some pairs of nodes
                are listed both ways and others are not.

        Raises:
            DataError: a shape, type or value is wrong; the message says which.
        """
        given = {"edges": edges, "features": features, "labels": labels}
        _check_tensors(name, **given, edge_weight=edge_weight)
        labels = _checked_labels(name, labels)
        features = _checked_features(name, features, labels.shape[0])
        edges = _checked_edges(name, edges, labels.shape[0])
        weight = _checked_weight(name, edge_weight, edges.shape[1])
        edges, weight, arcs = both_ways(edges, weight, labels.shape[0])
        names = _checked_names(name, class_names, labels)
        ids = None if node_ids is None else tuple(str(i) for i in node_ids)
        check_texts(name, "id", ids or ())
        if ids is not None and len(set(ids)) != labels.shape[0]:
            raise DataError(
                f"{name}: {labels.shape[0]} nodes but {len(set(ids))} distinct node ids; "
                "give every node an id of its own"
            )
        kept = _kept_arcs(arcs, weight, directed)
        return cls(name, edges, weight, features, labels, names, ids, kept)


def undirected(
    edges: Tensor, weight: Tensor | None, num_nodes: int
) -> tuple[Tensor, Tensor | None]:
    """Return both directions of every edge once, sorted by row, without self-loops."""
    return both_ways(edges, weight, num_nodes)[:2]


def both_ways(
    edges: Tensor, weight: Tensor | None, num_nodes: int
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return the same, and which of them are listed in this direction (see ``Graph.arcs``)."""
    source, target = edges
    keep = source != target
    source, target = source[keep], target[keep]
    key = torch.cat([source * num_nodes + target, target * num_nodes + source])
    unique, where = torch.unique(key, return_inverse=True)
    pairs, listed = torch.stack([unique // num_nodes, unique % num_nodes]), where[: len(source)]
    if weight is None:
        arcs = torch.zeros(unique.shape[0], dtype=torch.bool)
        arcs[listed] = True
        return pairs, None, arcs
    weight = weight[keep]
    merged = torch.zeros(unique.shape[0], dtype=weight.dtype)
    arcs = torch.zeros_like(merged)
    merged.scatter_reduce_(0, where, weight.repeat(2), "amax", include_self=False)
    arcs.scatter_reduce_(0, listed, weight, "amax", include_self=False)
    return pairs, merged, arcs


def _kept_arcs(arcs: Tensor, weight: Tensor | None, directed: bool | None) -> Tensor | None:
    """Return what tells the direction of edges, or None where nothing does."""
    same = bool(arcs.all()) if weight is None else torch.equal(arcs, weight)
    unclear = directed is None and 2 * int(arcs.count_nonzero()) == arcs.shape[0]
    return None if same or unclear or directed is False else arcs


def _check_tensors(name: str, **parts: Tensor | None) -> None:
    for what, part in parts.items():
        if part is not None and not isinstance(part, Tensor):
            raise DataError(
                f"{name}: {what} of type {type(part).__name__}; give a tensor: torch.as_tensor(…), "
                "or have ppro.as_graph make the graph"
            )


def _checked_labels(name: str, labels: Tensor) -> Tensor:
    if labels.dim() != 1 or labels.is_floating_point() or labels.shape[0] == 0:
        raise DataError(
            f"{name}: labels must be one whole number per node, got {tuple(labels.shape)} of "
            f"{labels.dtype}; write -1 for a node without a label"
        )
    if int(labels.min()) < UNLABELLED:
        row = int(labels.argmin())
        raise DataError(
            f"{name}: label {int(labels[row])} of node {row} is negative; classes count from 0, "
            "and -1 stands for no label"
        )
    return labels.to(torch.int64)


def _checked_features(name: str, features: Tensor, num_nodes: int) -> Tensor:
    if features.dim() != 2 or features.shape[0] != num_nodes or features.shape[1] == 0:
        raise DataError(
            f"{name}: features have shape {tuple(features.shape)}, expected one row of at least "
            f"one column for each of the {num_nodes} nodes"
        )
    if features.layout not in (torch.strided, torch.sparse_csr):
        raise DataError(f"{name}: features must be dense or sparse CSR, got {features.layout}")
    features = features.to(torch.float32)
    values = features.values() if features.layout == torch.sparse_csr else features
    finite = torch.isfinite(values)
    if not bool(finite.all()):
        raise DataError(
            f"{name}: {int((~finite).sum())} feature values are NaN or infinite; "
            "impute or drop them before training"
        )
    return features


def _checked_edges(name: str, edges: Tensor, num_nodes: int) -> Tensor:
    of_truth = edges.dtype == torch.bool
    if edges.dim() != 2 or edges.shape[0] != 2 or edges.is_floating_point() or of_truth:
        raise DataError(
            f"{name}: edges must be whole numbers of shape [2, E], got {tuple(edges.shape)} "
            f"of {edges.dtype}"
        )
    edges = edges.to(torch.int64)
    if edges.numel() and (int(edges.min()) < 0 or int(edges.max()) >= num_nodes):
        bad = int(((edges < 0) | (edges >= num_nodes)).any(0).nonzero()[0])
        raise DataError(
            f"{name}: edge {bad} joins {int(edges[0, bad])} and {int(edges[1, bad])}, but nodes "
            f"count from 0 to {num_nodes - 1}"
        )
    return edges


def _checked_weight(name: str, weight: Tensor | None, num_edges: int) -> Tensor | None:
    if weight is None:
        return None
    if weight.shape != (num_edges,):
        raise DataError(
            f"{name}: edge weights of shape {tuple(weight.shape)} for {num_edges} edges; give one "
            "for each"
        )
    weight = weight.to(torch.float32)
    if not bool(((weight > 0) & torch.isfinite(weight)).all()):
        raise DataError(f"{name}: edge weights must be positive and finite; drop the other edges")
    return weight


def _checked_names(name: str, names: Sequence[str] | None, labels: Tensor) -> tuple[str, ...]:
    needed = int(labels.max()) + 1
    if names is None:
        names = [str(c) for c in range(needed)]
    if len(names) < needed:
        raise DataError(f"{name}: label {needed - 1} has no name among {len(names)} class names")
    if len(names) < 2:
        raise DataError(f"{name}: only one class; node classification needs at least two")
    texts = tuple(str(n) for n in names)
    check_texts(name, "class name", texts)
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise DataError(f"{name}: two classes are named {twice!r}; rename one of them")
    return texts


def check_texts(name: str, what: str, texts: Sequence[str]) -> None:
    """Refuse texts that no file can hold, or that are much too long for what they are.

    Raises:
        DataError: it names the first.
    """
    with suppress(UnicodeEncodeError):
        "".join(texts).encode()
        if max(map(len, texts), default=0) <= LONGEST_TEXT:
            return
    for number, text in enumerate(texts):
        if len(text) > LONGEST_TEXT:
            told = f"of {len(text):,} characters; shorten it to {LONGEST_TEXT:,}"
            raise DataError(f"{name}: {what} {number} is {told}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{name}: {what} {number} is {text!r}, which is no text that a file can hold; "
                "replace the half characters in it"
            ) from None
