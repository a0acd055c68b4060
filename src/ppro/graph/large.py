"""A graph too large for memory: edges by rows, features in a file."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.graph.core import Graph


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Features that stay where they are until rows are asked for.

    Args:
        shape: n and f.
        read: some of the rows, as a tensor of their own. Shape ``[b, f]``, float32.
        whole: all of them, best as a mapping that takes no memory until it is touched.
    """

    shape: tuple[int, int]
    read: Callable[[slice], Tensor]
    whole: Callable[[], Tensor]


class LargeGraph(Graph):
    """An undirected graph like any other, whose pair list and feature matrix exist only on request.

    :func:`ppro.data.large.read_large` makes one and checks it; this constructor trusts its caller.

    Args:
        starts: where the neighbours of each node begin. Shape ``[n + 1]``, int64.
        columns: neighbours, both directions of every edge, sorted in each row. ``[E]``, int32.
        rows: the features.
    """

    starts: Tensor
    columns: Tensor
    rows: FeatureRows

    def __init__(
        self,
        name: str,
        starts: Tensor,
        columns: Tensor,
        rows: FeatureRows,
        labels: Tensor,
        class_names: tuple[str, ...],
    ) -> None:
        values = {
            "name": name,
            "starts": starts,
            "columns": columns,
            "rows": rows,
            "labels": labels,
            "class_names": class_names,
            "edge_weight": None,
            "node_ids": None,
            "arcs": None,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def edge_index(self) -> Tensor:
        """Return the pairs, made anew each time: 16 bytes for each. Shape ``[2, E]``, int64."""
        rows = torch.repeat_interleave(torch.arange(self.num_nodes), self.starts.diff())
        return torch.stack([rows, self.columns.long()])

    @property
    def features(self) -> Tensor:
        """Return all features, mapped anew each time. Shape ``[n, f]``."""
        return self.rows.whole()

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.columns.shape[0]) // 2

    @property
    def num_features(self) -> int:
        """Number of features, f."""
        return self.rows.shape[1]

    @property
    def filled_features(self) -> int:
        """Number of features of all nodes: to leave those that are zero out would read the file."""
        return self.num_nodes * self.num_features
