"""What looks odd about a graph from files, and what PPro does about it."""

from itertools import pairwise

import scipy.sparse as sp
import torch
from torch import Tensor

from ppro.data.files.reading import Reading
from ppro.data.large.checks import FeatureFacts, feature_facts
from ppro.data.statistics import Description, describe
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph

SMALL_CLASS = 3
"""A class with fewer nodes cannot have one in each of train, val and test."""
IMBALANCED = 10
HETEROPHILOUS = 0.1
FAR = 10
"""Weights are told of that are on average so much larger or smaller than 1."""


def findings(reading: Reading) -> list[str]:
    """Return one line for everything odd: what it is, and what PPro does or advises."""
    facts = describe(reading.graph)
    return [*_of_edges(reading), *_of_nodes(facts), *_of_features(reading.graph), *reading.notes]


def _of_edges(reading: Reading) -> list[str]:
    edges = reading.edges
    odd = (
        (edges.self_loops, "self-loops: dropped (each node sees itself anyway)"),
        (edges.duplicates, "edges listed again: merged, the largest weight is kept"),
        (edges.reciprocal, "pairs listed in both directions: one undirected edge each"),
    )
    told = [f"{count:,} {what}" for count, what in odd if count]
    weight = reading.graph.edge_weight
    if weight is not None and not 1 / FAR < float(weight.mean()) < FAR:
        told.append(
            f"weights of {float(weight.mean()):.3g} on average: a node counts for itself with 1; "
            "scale the weights, or use --set self_loops=false"
        )
    return told


def _of_nodes(facts: Description) -> list[str]:
    counts = facts["class_counts"]
    small = [name for name, count in counts.items() if count < SMALL_CLASS]
    most, least = max(counts.values()), min(counts.values())
    adjusted = facts["adjusted_homophily"]
    apart = facts["connected_components"] - 1
    few = f"classes of fewer than {SMALL_CLASS} labelled nodes ({', '.join(small[:3])})"
    told = (
        (facts["isolated_nodes"], "isolated nodes: predicted from their own features alone"),
        (facts["unlabelled_nodes"], "unlabelled nodes: predicted, never trained or scored on"),
        (apart, "components beside the first: nothing propagates between them"),
        (len(small), f"{few}: trained on, not all scored"),
    )
    lines = [f"{count:,} {what}" for count, what in told if count]
    if most > IMBALANCED * max(least, 1):
        lines.append(
            f"classes of {least:,} to {most:,} nodes: compare accuracy with {most:,} of "
            f"{sum(counts.values()):,}, what the largest class alone would give"
        )
    if adjusted is not None and adjusted < HETEROPHILOUS:
        lines.append(
            f"adjusted homophily {adjusted:.2f}: neighbours say little of the class; compare with "
            "--model mlp, which ignores the edges"
        )
    return lines


def _of_features(graph: Graph) -> list[str]:
    if isinstance(graph, LargeGraph):
        found = feature_facts(graph.rows)
    else:
        found = _facts_in_memory(_matrix(graph.features))
    odd = (
        (found.constant, "constant features: they carry nothing"),
        (found.zero, "nodes whose features are all zero: they live on their neighbours"),
        (found.twins, "nodes with the very features of another node: check for duplicates"),
    )
    return [f"{count:,} {what}" for count, what in odd if count]


def _facts_in_memory(matrix: sp.csr_matrix) -> FeatureFacts:
    varying = int((matrix.max(axis=0) != matrix.min(axis=0)).sum())
    zero = int((matrix.getnnz(axis=1) == 0).sum())
    return FeatureFacts(int(matrix.shape[1]) - varying, zero, _twins(matrix))


def _matrix(features: Tensor) -> sp.csr_matrix:
    if features.layout != torch.sparse_csr:
        return sp.csr_matrix(features.numpy())
    parts = (features.values(), features.col_indices(), features.crow_indices())
    return sp.csr_matrix(tuple(part.numpy() for part in parts), shape=tuple(features.shape))


def _twins(matrix: sp.csr_matrix) -> int:
    spans = pairwise(matrix.indptr.tolist())
    rows = {(matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in spans}
    return int(matrix.shape[0]) - len(rows)
