"""The exchange of boundary rows: what a rank sends, what it receives, and how many bytes that is.

Edges go both ways, so that a rank knows without asking which of its rows another rank needs: those
with a neighbour there. Both list them by their numbers in the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.distributed.group import RankGroup
from ppro.distributed.local_rows import foreign_pairs, rows_of
from ppro.graph.core import Graph


@dataclass(frozen=True, eq=False)
class HaloPlan:
    """The rows of a rank and their exchange.

    A row is interior where all its neighbours are on this rank, else it is on the boundary. The
    interior comes first: its product needs nothing from others.

    Args:
        nodes: the numbers of the rows in the whole graph. Shape ``[n]``, n that of the rank.
        interior: how many rows are interior.
        sent: rows that other ranks need, by rank. Shape ``[s]``, positions in ``nodes``.
        sent_counts: how many go to each rank.
        ghosts: numbers in the whole graph of the rows received, by rank. Shape ``[g]``.
        ghost_counts: how many come from each rank.
        fringe: rows of this rank that boundary rows see. Shape ``[f]``, positions in ``nodes``.
        num_nodes: nodes of the whole graph.
    """

    nodes: Tensor
    interior: int
    sent: Tensor
    sent_counts: list[int]
    ghosts: Tensor
    ghost_counts: list[int]
    fringe: Tensor
    num_nodes: int

    @classmethod
    def make(cls, graph: Graph, owner: Tensor, ranks: RankGroup) -> HaloPlan:
        """Return the plan of this rank.

        Args:
            owner: the rank of each node. Shape ``[n]``.
        """
        mine = (owner == ranks.rank).nonzero().squeeze(1)
        rows = rows_of(graph, mine, self_loops=False)
        count = mine.shape[0]
        pairs = foreign_pairs(rows, owner, ranks.rank)
        peer, row = pairs // max(1, count), pairs % max(1, count)
        boundary = torch.zeros(count, dtype=torch.bool)
        boundary[row] = True
        order = torch.cat([(~boundary).nonzero(), boundary.nonzero()]).squeeze(1)
        place = torch.empty_like(order)
        place[order] = torch.arange(count)
        near = torch.unique(_of_rows(rows.starts, rows.columns, boundary)).long()
        outside = near[owner[near] != ranks.rank]
        by_rank = torch.argsort(owner[outside], stable=True)
        # A boundary row sees itself, whether or not loops are added.
        seen = torch.zeros(count, dtype=torch.bool)
        seen[torch.searchsorted(mine, near[owner[near] == ranks.rank])] = True
        seen |= boundary
        return cls(
            nodes=mine[order],
            interior=int((~boundary).sum()),
            sent=place[row],
            sent_counts=_counts(peer, ranks.size),
            ghosts=outside[by_rank],
            ghost_counts=_counts(owner[outside].long(), ranks.size),
            fringe=place[seen.nonzero().squeeze(1)].sort().values,
            num_nodes=graph.num_nodes,
        )

    @property
    def seen_by_boundary(self) -> Tensor:
        """Numbers in the whole graph of all that boundary rows see: fringe, then ghosts."""
        return torch.cat([self.nodes[self.fringe], self.ghosts])


def _of_rows(starts: Tensor, columns: Tensor, chosen: Tensor) -> Tensor:
    return columns[torch.repeat_interleave(chosen, starts.diff())]


def _counts(ranks: Tensor, size: int) -> list[int]:
    counts: list[int] = torch.bincount(ranks, minlength=size).tolist()
    return counts


class Halo:
    """Exchanges boundary rows by a plan.

    Args:
        device: where the rows are.
    """

    def __init__(self, plan: HaloPlan, ranks: RankGroup, device: torch.device) -> None:
        self.plan, self.ranks = plan, ranks
        self.sent, self.fringe = plan.sent.to(device), plan.fringe.to(device)

    def start(self, h: Tensor) -> Callable[[], Tensor]:
        """Send the boundary rows on their way; the product of interior rows can go on meanwhile.

        Args:
            h: embeddings of the rows of this rank. Shape ``[R, n, d]``.

        Returns:
            What waits for the rows of others and returns all that boundary rows see: the fringe,
            then the ghosts. Shape ``[R, f + g, d]``, contiguous.
        """
        runs, _, width = h.shape
        # Ranks lie one after the other in a message, so rows come before runs.
        packed = h[:, self.sent].transpose(0, 1).reshape(-1, runs * width)
        ghosts = h.new_empty(sum(self.plan.ghost_counts), runs * width)
        wait = self.ranks.exchange(packed, self.plan.sent_counts, ghosts, self.plan.ghost_counts)
        # Made while the others' rows are on their way.
        fringe = h[:, self.fringe]

        def received() -> Tensor:
            wait()
            return torch.cat([fringe, ghosts.view(-1, runs, width).transpose(0, 1)], dim=1)

        return received
