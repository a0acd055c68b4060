"""Which rank owns which node."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ppro.distributed.group import RankGroup
from ppro.distributed.local_rows import edges_by_rows
from ppro.errors import SettingsError
from ppro.graph.core import Graph

Partitioning = Literal["metis", "contiguous"]


def owners(graph: Graph, ranks: RankGroup, how: Partitioning = "metis") -> Tensor:
    """Return the rank of each node, the same on every rank. Shape ``[n]``, int16.

    Args:
        how: metis cuts few edges, on rank 0 and with the whole adjacency there; contiguous gives
            each rank a block of numbers, which is good where neighbours have near numbers.

    Raises:
        SettingsError: METIS is not installed, or a rank would get no node.
    """
    if how not in ("metis", "contiguous"):
        raise SettingsError(f"partition {how!r}: unknown; use metis or contiguous")
    if how == "contiguous" or ranks.size == 1:
        owner = contiguous(graph.num_nodes, ranks.size)
    else:
        owner = torch.zeros(graph.num_nodes, dtype=torch.int16)
        if ranks.rank == 0:
            owner = metis(graph, ranks.size)
        owner = ranks.from_first(owner)
    counts = torch.bincount(owner.long(), minlength=ranks.size)
    if int(counts.min()) == 0:
        raise SettingsError(
            f"{graph.name}: {graph.num_nodes} nodes, and a rank of {ranks.size} would get none; "
            "start fewer ranks, or use --partition contiguous"
        )
    return owner


def contiguous(nodes: int, size: int) -> Tensor:
    """Blocks of node numbers, as even as can be. Shape ``[n]``, int16."""
    return (torch.arange(nodes) * size // nodes).to(torch.int16)


def metis(graph: Graph, size: int) -> Tensor:
    """Return the parts that METIS cuts the graph into. Shape ``[n]``, int16.

    Raises:
        SettingsError: METIS is not installed.
    """
    try:
        from pymetis import CSRAdjacency, part_graph
    except ImportError:
        raise SettingsError(
            "several ranks need METIS; install it with: pip install 'ppro[distributed]', "
            "or use --partition contiguous"
        ) from None
    starts, columns, _ = edges_by_rows(graph)
    # METIS counts in 64 bits.
    wide = (part.numpy().astype(np.int64, copy=False) for part in (starts, columns))
    _, parts = part_graph(size, CSRAdjacency(*wide))
    return torch.from_numpy(np.asarray(parts).astype(np.int16))
