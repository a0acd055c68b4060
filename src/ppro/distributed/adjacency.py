"""The rows of Â that a rank owns, and their products with embeddings that all ranks hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from ppro.compute.edge_rows import normalised_values
from ppro.compute.noise import Noise
from ppro.compute.propagation import EDGE_SITE, Adjacency, edge_ids
from ppro.compute.sparse import from_rows, multiply
from ppro.distributed.halo import Halo, HaloPlan
from ppro.distributed.local_rows import LocalRows
from ppro.parts.choices import Normalisation


@dataclass(frozen=True, eq=False)
class Halves:
    """A matrix by its interior and its boundary rows.

    Args:
        inner: interior rows. CSR, shape ``[interior, n]``.
        outer: boundary rows over fringe and ghosts. CSR, shape ``[n - interior, f + g]``.
        inner_values: entries in each run where runs differ (edge dropout). Shape ``[R, nnz]``.
        outer_values: likewise of the boundary.
    """

    inner: Tensor
    outer: Tensor
    inner_values: Tensor | None = None
    outer_values: Tensor | None = None

    def to(self, device: torch.device) -> Halves:
        """Return the same on another device."""
        return Halves(self.inner.to(device), self.outer.to(device))


class ShardAdjacency(Adjacency):
    """Rows of a normalised adjacency matrix; a product exchanges boundary rows with other ranks.

    The rows of Âᵀ have the pattern of those of Â, so the adjoint exchanges the same rows.

    Args:
        rows: of Â.
        adjoint_rows: of Âᵀ; the same object where Â is symmetric.
    """

    def __init__(self, halo: Halo, rows: Halves, adjoint_rows: Halves) -> None:
        self.halo, self.rows, self.adjoint_rows = halo, rows, adjoint_rows

    @classmethod
    def build_shard(
        cls, rows: LocalRows, halo: Halo, normalisation: Normalisation = "symmetric"
    ) -> ShardAdjacency:
        """Normalise the rows of a rank, as :meth:`Adjacency.build` does those of a graph.

        Args:
            rows: in the order of the plan, with self-loops where they are wanted.
            halo: on the CPU.
        """
        degree = rows.degree
        power = -0.5 if normalisation == "symmetric" else -1.0
        scale = torch.where(degree > 0, degree, 1.0).pow(power)
        # The degrees of ghosts are known to their owners.
        seen = halo.start(scale.view(1, -1, 1))().view(-1)
        pattern = _Pattern(rows, halo.plan)
        if normalisation == "symmetric":
            both = pattern.normalised(scale, scale, seen)
            return cls(halo, both, both)
        return cls(
            halo, pattern.normalised(scale, None, None), pattern.normalised(None, scale, seen)
        )

    @property
    def symmetric(self) -> bool:
        """Tell whether Â is its own transpose."""
        return self.adjoint_rows is self.rows

    def transposed(self) -> ShardAdjacency:
        """Âᵀ."""
        return ShardAdjacency(self.halo, self.adjoint_rows, self.rows)

    def to(self, device: torch.device) -> ShardAdjacency:
        """Return the same adjacency on another device."""
        halo = Halo(self.halo.plan, self.halo.ranks, device)
        rows = self.rows.to(device)
        return ShardAdjacency(halo, rows, rows if self.symmetric else self.adjoint_rows.to(device))

    def dropped(self, noise: Noise) -> ShardAdjacency:
        """Return the adjacency of a pass with edge dropout; all ranks drop the same edges."""
        rows = self._dropped(self.rows, noise)
        adjoint = rows if self.symmetric else self._dropped(self.adjoint_rows, noise)
        return ShardAdjacency(self.halo, rows, adjoint)

    def _dropped(self, rows: Halves, noise: Noise) -> Halves:
        inner, outer = (
            noise.drop(half.values().unsqueeze(0), ids, EDGE_SITE, noise.edge_rates)
            for half, ids in zip((rows.inner, rows.outer), self._ids, strict=True)
        )
        return replace(rows, inner_values=inner, outer_values=outer)

    @cached_property
    def _ids(self) -> tuple[Tensor, Tensor]:
        """Dropout ids of the entries of both halves, the same as in one process."""
        plan, device = self.halo.plan, self.rows.inner.device
        nodes, seen = plan.nodes.to(device), plan.seen_by_boundary.to(device)
        cut = plan.interior
        inner = edge_ids(self.rows.inner, nodes[:cut], nodes)
        return inner, edge_ids(self.rows.outer, nodes[cut:], seen)

    def product(self, h: Tensor) -> Tensor:
        """Â h without autograd."""
        return self._multiply(self.rows, h, 1.0)

    def mix_into(self, out: Tensor, h: Tensor, other: Tensor, share: float) -> Tensor:
        """out = (1 - share) Â h + share * other."""
        return self._multiply(self.rows, h, 1 - share, other, share, out)

    def adjoint_product(self, g: Tensor, factor: float = 1.0, out: Tensor | None = None) -> Tensor:
        """factor * Âᵀ g without autograd."""
        return self._multiply(self.adjoint_rows, g, factor, out=out)

    def _multiply(
        self,
        rows: Halves,
        h: Tensor,
        alpha: float,
        other: Tensor | None = None,
        beta: float = 0.0,
        out: Tensor | None = None,
    ) -> Tensor:
        """out = alpha M h + beta other; the boundary travels while the interior is computed."""
        out = torch.empty_like(h) if out is None else out
        received = self.halo.start(h)
        cut = self.halo.plan.interior
        first, last = slice(0, cut), slice(cut, None)

        def fill(part: slice, matrix: Tensor, seen: Tensor, values: Tensor | None) -> None:
            added = None if other is None else other[:, part]
            _multiply_into(out[:, part], matrix, seen, values, alpha, added, beta)

        fill(first, rows.inner, h, rows.inner_values)
        fill(last, rows.outer, received(), rows.outer_values)
        return out


def _multiply_into(
    out: Tensor,
    matrix: Tensor,
    h: Tensor,
    values: Tensor | None,
    alpha: float,
    other: Tensor | None,
    beta: float,
) -> None:
    """:func:`ppro.compute.sparse.multiply` into rows of a longer matrix of each run."""
    if not matrix.shape[0]:
        return
    if h.is_cuda:
        # The kernel wants the runs of its operands without gaps between them.
        other = None if other is None else other.contiguous()
        out.copy_(multiply(matrix, h, values=values, alpha=alpha, other=other, beta=beta))
    else:
        multiply(matrix, h, values=values, alpha=alpha, other=other, beta=beta, out=out)


class _Pattern:
    """Where the entries of both halves are, in the numbering that their products want."""

    def __init__(self, rows: LocalRows, plan: HaloPlan) -> None:
        cut = int(rows.starts[plan.interior])
        self.starts = rows.starts[: plan.interior + 1], rows.starts[plan.interior :] - cut
        numberings = plan.nodes, plan.seen_by_boundary
        entries = slice(0, cut), slice(cut, None)
        self.widths = [int(numbers.shape[0]) for numbers in numberings]
        place = torch.empty(plan.num_nodes, dtype=torch.int32)
        self.columns, self.weights = [], []
        for numbers, part in zip(numberings, entries, strict=True):
            place[numbers] = torch.arange(numbers.shape[0], dtype=torch.int32)
            self.columns.append(torch.index_select(place, 0, rows.columns[part]))
            self.weights.append(None if rows.weight is None else rows.weight[part])
        self.cut = plan.interior

    def normalised(
        self, of_row: Tensor | None, of_column: Tensor | None, of_seen: Tensor | None
    ) -> Halves:
        """Entries times a factor of their row and one of their column.

        Args:
            of_row: of the rows of this rank. Shape ``[n]``.
            of_column: the same for columns of interior rows. Shape ``[n]``.
            of_seen: for columns of boundary rows. Shape ``[f + g]``.
        """
        rows = (None, None) if of_row is None else (of_row[: self.cut], of_row[self.cut :])
        made = [
            from_rows(starts, columns, normalised_values(starts, columns, *factors, weight), width)
            for starts, columns, weight, width, factors in zip(
                self.starts,
                self.columns,
                self.weights,
                self.widths,
                zip(rows, (of_column, of_seen), strict=True),
                strict=True,
            )
        ]
        return Halves(made[0], made[1])
