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
    """An undirected graph without self-loops, its node features and its node labels.

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
    """

    name: str
    edge_index: Tensor
    edge_weight: Tensor | None
    features: Tensor
    labels: Tensor
    class_names: tuple[str, ...]
    node_ids: tuple[str, ...] | None = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.labels.shape[0])

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.edge_index.shape[1]) // 2

    @property
    def num_features(self) -> int:
        """Number of features, f."""
        return int(self.features.shape[1])

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
    ) -> Graph:
        """Check the parts of a graph and bring them into the stored form.

        Edges may come in one or both directions, repeated, and with self-loops: they are made
        undirected, duplicates are merged (weights: the largest is kept) and self-loops dropped.

        Raises:
            DataError: a shape, type or value is wrong; the message says which.
        """
        labels = _checked_labels(name, labels)
        features = _checked_features(name, features, labels.shape[0])
        edges = _checked_edges(name, edges, labels.shape[0])
        weight = _checked_weight(name, edge_weight, edges.shape[1])
        edges, weight = undirected(edges, weight, labels.shape[0])
        names = _checked_names(name, class_names, labels)
        ids = None if node_ids is None else tuple(str(i) for i in node_ids)
        check_texts(name, "id", ids or ())
        if ids is not None and len(set(ids)) != labels.shape[0]:
            raise DataError(
                f"{name}: {labels.shape[0]} nodes but {len(set(ids))} distinct node ids; "
                "give every node an id of its own"
            )
        return cls(name, edges, weight, features, labels, names, ids)


def undirected(
    edges: Tensor, weight: Tensor | None, num_nodes: int
) -> tuple[Tensor, Tensor | None]:
    """Return both directions of every edge once, sorted by row, without self-loops."""
    source, target = edges
    keep = source != target
    source, target = source[keep], target[keep]
    key = torch.cat([source * num_nodes + target, target * num_nodes + source])
    unique, where = torch.unique(key, return_inverse=True)
    merged = None
    if weight is not None:
        doubled = weight[keep].repeat(2)
        merged = torch.zeros(unique.shape[0], dtype=doubled.dtype)
        merged.scatter_reduce_(0, where, doubled, "amax", include_self=False)
    return torch.stack([unique // num_nodes, unique % num_nodes]), merged


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
    if edges.dim() != 2 or edges.shape[0] != 2 or edges.is_floating_point():
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
        raise DataError(f"{name}: {tuple(weight.shape)} edge weights for {num_edges} edges")
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
