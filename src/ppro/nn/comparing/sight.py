"""Which nodes the backbones are asked about: they need look at these and at their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.compute.sparse import compact, csr, multiply
from ppro.nn.network import Inputs, Rows

MOST = 0.9
"""Share of the nodes from which a backbone looks at all of them: picking has its price too."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What B backbones look at, and where to find node i of backbone b, whose number is b n + i.

    All is None but the first two where every backbone looks at all nodes.

    Args:
        inputs: the graph.
        rows: the nodes that each backbone looks at, padded. Shape ``[B, w]``.
        real: the rows that are no padding, among all of them. Shape ``[s]``.
        seen: the numbers of their nodes. Shape ``[s]``.
        place: where each node lies among these. Shape ``[B n]``.
        asked: where each node lies among those asked about. Shape ``[B n]``.
        beside: the mean over the neighbours of the nodes asked about. Shape ``[a, s]``, sparse.
    """

    inputs: Inputs
    rows: Rows
    real: Tensor | None = None
    seen: Tensor | None = None
    place: Tensor | None = None
    asked: Tensor | None = None
    beside: Tensor | None = None

    @classmethod
    def of_all(cls, inputs: Inputs, backbones: int) -> Sight:
        """Every backbone looks at every node."""
        nodes = torch.arange(inputs.num_nodes, device=inputs.influence.device)
        nodes = nodes.expand(backbones, -1)
        ones = torch.ones_like(nodes, dtype=inputs.influence.dtype)
        return cls(inputs, Rows(nodes, torch.zeros_like(nodes), ones, whole=True))

    @classmethod
    def of(cls, inputs: Inputs, backbones: int, wanted: Sequence[tuple[Tensor, Tensor]]) -> Sight:
        """Every backbone looks at what it is asked about and the neighbours of that.

        Args:
            wanted: nodes, and the backbone that is asked about each. Shapes ``[R, m]``.
        """
        n, matrix = inputs.num_nodes, inputs.neighbours.matrix
        keys = torch.cat([(backbone * n + nodes).flatten() for nodes, backbone in wanted])
        keys = torch.unique(keys)
        starts, columns = matrix.crow_indices().long(), matrix.col_indices().long()
        lengths = starts.diff()[keys % n]
        row = torch.arange(len(keys), device=keys.device).repeat_interleave(lengths)
        first = starts[keys % n] - (lengths.cumsum(0) - lengths)
        entry = torch.arange(len(row), device=keys.device) + first[row]
        neighbours = (keys - keys % n)[row] + columns[entry]
        seen = torch.unique(torch.cat([keys, neighbours]))
        counts = torch.bincount(seen // n, minlength=backbones)
        width = int(counts.max())
        if width > MOST * n:
            return cls.of_all(inputs, backbones)
        number, before = torch.arange(len(seen), device=keys.device), counts.cumsum(0) - counts
        real = number - before[seen // n] + (seen // n) * width
        place, asked = (keys.new_zeros(backbones * n) for _ in range(2))
        place[seen], asked[keys] = number, number[: len(keys)]
        nodes = keys.new_zeros(backbones * width).index_put_((real,), seen % n)
        nodes = nodes.view(backbones, width)
        ones = torch.ones_like(nodes, dtype=inputs.influence.dtype)
        size = len(keys), len(seen)
        beside = compact(csr(row, place[neighbours], matrix.values()[entry], size))
        rows = Rows(nodes, torch.zeros_like(nodes), ones)
        return cls(inputs, rows, real, seen, place, asked, beside)

    def pick(self, values: Tensor) -> Tensor:
        """Return the values of the rows that are no padding. ``[B, w, d]`` to ``[s, d]``."""
        flat = values.flatten(0, 1)
        return flat if self.real is None else flat.index_select(0, self.real)

    def take(self, values: Tensor) -> Tensor:
        """Return the values of the nodes that are looked at. ``[B, n, d]`` to ``[s, d]``."""
        flat = values.reshape(-1, values.shape[-1])
        return flat if self.seen is None else flat.index_select(0, self.seen)

    def near(self, predictions: Tensor) -> Tensor:
        """Return the mean prediction of the neighbours, at each of several steps.

        Args:
            predictions: of the nodes that are looked at. Shape ``[k, s, c]``.

        Returns:
            Those of the nodes asked about. Shape ``[k, a, c]``.
        """
        if self.beside is not None:
            return multiply(self.beside, predictions)
        steps, _, classes = predictions.shape
        found = self.inputs.neighbours.product(predictions.view(-1, self.inputs.num_nodes, classes))
        return found.view(steps, -1, classes)

    def find(self, nodes: Tensor, backbone: Tensor) -> tuple[Tensor, Tensor]:
        """Return where nodes lie among the real rows, and among those asked about. ``[R, m]``."""
        key = backbone * self.inputs.num_nodes + nodes
        if self.place is None or self.asked is None:
            return key, key
        return self.place[key], self.asked[key]
