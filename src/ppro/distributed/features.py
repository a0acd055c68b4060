"""The rows of X that a rank owns: in memory, or read from the file of a large graph."""

import torch
from torch import Tensor

from ppro.compute.feature_blocks import BlockedFeatures, ReadRows
from ppro.compute.features import Features, normalised
from ppro.distributed.local_rows import gather, starts_of
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.parts.choices import FeatureForm, FeatureNorm

NEAR = 16
"""Rows of others between two rows of a rank that are read along, instead of reading twice."""


def shard_features(
    graph: Graph, nodes: Tensor, norm: FeatureForm | FeatureNorm, device: torch.device
) -> Features:
    """X of some nodes; their dropout is that of the whole graph.

    Args:
        nodes: in the order of the rows. Shape ``[n]``.
    """
    shape = (int(nodes.shape[0]), graph.num_features)
    if isinstance(graph, LargeGraph):
        read = reader(graph.rows.read, nodes)
        if device.type == "cpu":
            return BlockedFeatures(read, shape, norm=norm)
        x = read(slice(0, shape[0]))
    else:
        x = rows_of_matrix(graph.features, nodes)
    x = normalised(x, norm)
    return Features(x.to(device), nodes.to(device))


def rows_of_matrix(matrix: Tensor, nodes: Tensor) -> Tensor:
    """Some rows of a dense or a CSR matrix."""
    if matrix.layout != torch.sparse_csr:
        return matrix[nodes]
    starts = matrix.crow_indices()
    begins = starts_of(starts, nodes)
    columns, values = (
        gather(starts, part, nodes, begins) for part in (matrix.col_indices(), matrix.values())
    )
    return torch.sparse_csr_tensor(
        begins.to(columns.dtype),
        columns,
        values,
        (nodes.shape[0], matrix.shape[1]),
        check_invariants=False,
    )


def reader(read: ReadRows, nodes: Tensor) -> ReadRows:
    """Reads rows by their positions in ``nodes``; rows that lie near each other at once.

    Args:
        read: reads consecutive rows of the file.
    """

    def read_shard(rows: slice) -> Tensor:
        wanted = nodes[rows]
        breaks = ((wanted.diff() < 1) | (wanted.diff() > NEAR)).nonzero().squeeze(1) + 1
        runs = torch.tensor_split(wanted, breaks)
        return torch.cat([_span(read, run) for run in runs if run.numel()])

    return read_shard


def _span(read: ReadRows, nodes: Tensor) -> Tensor:
    """Return rows with ascending numbers, from one read of all between them."""
    first, last = int(nodes[0]), int(nodes[-1])
    found = read(slice(first, last + 1))
    return found if found.shape[0] == nodes.shape[0] else found[nodes - first]
