"""The normalised adjacency, its products, and the linear recursion with selection inside."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ppro.compute.edge_rows import looped, normalised_values
from ppro.compute.noise import Noise, element_ids
from ppro.compute.sparse import (
    compact,
    csr,
    from_rows,
    multiply,
    row_indices,
    transpose,
    with_values,
)
from ppro.parts.choices import Normalisation

EDGE_SITE = 2


class Adjacency:
    """A normalised adjacency matrix Â, built once, and its products with node embeddings.

    Args:
        matrix: Â as a CSR tensor. Shape ``[n, n]``.
        adjoint: its transpose; the same tensor where Â is symmetric.
        values: entries of Â in each run where runs differ (edge dropout). Shape ``[R, nnz]``.
        adjoint_values: likewise of the transpose.

    Attributes:
        recorded: whether autograd records the products, so that no recursion of our own may take
            their place.
        entries: the entries listed for attention (see :class:`ppro.compute.attention.Entries`), or
            None where whoever attends lists them.
    """

    recorded: ClassVar[bool] = False
    entries: Any = None

    def __init__(
        self,
        matrix: Tensor,
        adjoint: Tensor,
        values: Tensor | None = None,
        adjoint_values: Tensor | None = None,
    ) -> None:
        self.matrix, self.adjoint = matrix, adjoint
        self.values, self.adjoint_values = values, adjoint_values

    @classmethod
    def build(
        cls,
        edge_index: Tensor,
        num_nodes: int,
        *,
        edge_weight: Tensor | None = None,
        normalisation: Normalisation = "symmetric",
        self_loops: bool = True,
        directed: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> Adjacency:
        """Normalise an adjacency: D^-1/2 A D^-1/2 (symmetric) or D^-1 A (row), A with or without I.

        A directed one has D_r^-1/2 A D_c^-1/2 instead of the first: D_r counts whom a node reads
        from, D_c those who read from it.

        Args:
            edge_index: both directions of every edge, or of a directed graph the pairs (i, j) such
                that node i reads from node j; sorted by row. Shape ``[2, E]``.
            num_nodes: n. A node without a neighbour gets a row of zeros, or 1 with self-loops.
        """
        rows, columns = edge_index
        values = torch.ones(rows.shape[0]) if edge_weight is None else edge_weight
        values = values.to(torch.float64)
        if self_loops:
            nodes = torch.arange(num_nodes, device=rows.device)
            rows, columns = torch.cat([rows, nodes]), torch.cat([columns, nodes])
            values = torch.cat([values, values.new_ones(num_nodes)])
            order = torch.argsort(rows * num_nodes + columns)
            rows, columns, values = rows[order], columns[order], values[order]
        degree = values.new_zeros(num_nodes).index_add_(0, rows, values)
        power = -0.5 if normalisation == "symmetric" else -1.0
        scale = torch.where(degree > 0, degree, 1.0).pow(power)
        of_column = scale
        if directed:
            readers = values.new_zeros(num_nodes).index_add_(0, columns, values)
            of_column = torch.where(readers > 0, readers, 1.0).pow(power)
        values = values * scale[rows]
        if normalisation == "symmetric":
            values = values * of_column[columns]
        matrix = compact(csr(rows, columns, values.to(dtype), (num_nodes, num_nodes)))
        if normalisation == "symmetric" and not directed:
            return cls(matrix, matrix)
        return cls(matrix, transpose(matrix)[0])

    @classmethod
    def from_rows(
        cls,
        starts: Tensor,
        columns: Tensor,
        *,
        normalisation: Normalisation = "symmetric",
        self_loops: bool = True,
    ) -> Adjacency:
        """The same as :meth:`build` for unweighted edges by rows, without longer temporaries.

        Args:
            starts: where the neighbours of each node begin. Shape ``[n + 1]``.
            columns: neighbours, both directions, sorted in each row. Shape ``[E]``, int32.
        """
        if self_loops:
            starts, columns = looped(starts, columns)
        degree = starts.diff().to(torch.float64)
        scale = torch.where(degree > 0, degree, 1.0).pow(
            -0.5 if normalisation == "symmetric" else -1.0
        )
        if normalisation == "symmetric":
            matrix = from_rows(starts, columns, normalised_values(starts, columns, scale, scale))
            return cls(matrix, matrix)
        matrix = from_rows(starts, columns, normalised_values(starts, columns, scale, None))
        # The pattern is symmetric, so the transpose differs in its values alone.
        return cls(matrix, with_values(matrix, normalised_values(starts, columns, None, scale)))

    @property
    def symmetric(self) -> bool:
        """Tell whether Â is its own transpose."""
        return self.adjoint is self.matrix

    def to(self, device: torch.device) -> Adjacency:
        """Return the same adjacency on another device."""
        matrix = self.matrix.to(device)
        return Adjacency(matrix, matrix if self.symmetric else self.adjoint.to(device))

    def dropped(self, noise: Noise) -> Adjacency:
        """Return the adjacency of a pass with edge dropout: in each run other entries are zero.

        Both directions of an edge share their fate, so a symmetric Â stays symmetric; those of a
        directed graph do too.
        """
        values = noise.drop(
            self.matrix.values().unsqueeze(0), self.edge_ids, EDGE_SITE, noise.edge_rates
        )
        adjoint_values = values
        if not self.symmetric:
            scale = noise.scale(self.adjoint_edge_ids, EDGE_SITE, noise.edge_rates)
            adjoint_values = self.adjoint.values() * scale
        return Adjacency(self.matrix, self.adjoint, values, adjoint_values)

    @cached_property
    def edge_ids(self) -> Tensor:
        """Dropout ids of the entries, the same for both directions of an edge. ``[1, nnz]``."""
        return edge_ids(self.matrix)

    @cached_property
    def adjoint_edge_ids(self) -> Tensor:
        """Return likewise in the order of the transpose."""
        return edge_ids(self.adjoint)

    def matmul(self, h: Tensor) -> Tensor:
        """Â h, differentiable. Shape ``[R, n, d]``."""
        product: Tensor = _Product.apply(h, self)  # type: ignore[no-untyped-call]
        return product

    def means(self) -> Adjacency | None:
        """D^-1 A of the neighbours alone, or None where whoever averages works it out."""
        return None

    def transposed(self) -> Adjacency:
        """Return the transpose of Â."""
        return Adjacency(self.adjoint, self.matrix, self.adjoint_values, self.values)

    def product(self, h: Tensor) -> Tensor:
        """Â h without autograd."""
        return multiply(self.matrix, h, values=self.values)

    def mix_into(self, out: Tensor, h: Tensor, other: Tensor, share: float) -> Tensor:
        """out = (1 - share) Â h + share * other."""
        alpha = 1 - share
        return multiply(
            self.matrix, h, values=self.values, alpha=alpha, other=other, beta=share, out=out
        )

    def adjoint_product(self, g: Tensor, factor: float = 1.0, out: Tensor | None = None) -> Tensor:
        """factor * Âᵀ g without autograd."""
        return multiply(self.adjoint, g, values=self.adjoint_values, alpha=factor, out=out)


def mean_of_neighbours(matrix: Tensor) -> Adjacency:
    """D^-1 A of the pattern of a CSR matrix, without its diagonal and its values."""
    rows, columns = row_indices(matrix), matrix.col_indices().long()
    apart = rows != columns
    rows, columns = rows[apart], columns[apart]
    degree = torch.bincount(rows, minlength=matrix.shape[0]).to(matrix.values().dtype)
    made = compact(csr(rows, columns, 1 / degree[rows], (matrix.shape[0], matrix.shape[1])))
    return Adjacency(made, made)


def edge_ids(
    matrix: Tensor, of_row: Tensor | None = None, of_column: Tensor | None = None
) -> Tensor:
    """Dropout ids of the entries, the same for both directions of an edge. Shape ``[1, nnz]``.

    Args:
        of_row: numbers of the rows in the graph, where the matrix is a part of it.
        of_column: likewise of the columns.
    """
    rows, columns = row_indices(matrix), matrix.col_indices().long()
    rows = rows if of_row is None else of_row[rows]
    columns = columns if of_column is None else of_column[columns]
    return element_ids(torch.minimum(rows, columns), torch.maximum(rows, columns)).unsqueeze(0)


class _Product(torch.autograd.Function):
    """Â h with the hand-written adjoint Âᵀ g."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return adjacency.product(h.contiguous())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.adjacency.transposed().matmul(grads[0]), None


class _SelectedRecursion(torch.autograd.Function):
    """The adjoint of h_k = (1-α) Â h_{k-1} + α h_0 read at step l_i for node i."""

    @staticmethod
    def forward(
        ctx: Any,
        h0: Tensor,
        selected: Tensor,
        steps: Tensor,
        flat_rows: Tensor,
        adjacency: Adjacency,
        alpha: float,
        depth: int,
    ) -> Tensor:
        ctx.save_for_backward(steps, flat_rows)
        ctx.adjacency, ctx.alpha, ctx.depth, ctx.shape = adjacency, alpha, depth, h0.shape
        return selected.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = grads
        steps, flat_rows = ctx.saved_tensors
        width = ctx.shape[-1]
        rows, per_row = flat_rows.reshape(-1), gradient.reshape(-1, width)
        at_step = steps.reshape(-1, 1)
        g, spare = gradient.new_zeros(ctx.shape), gradient.new_empty(ctx.shape)
        g0, taken = gradient.new_zeros(ctx.shape), _taken(steps, ctx.depth)
        for k in range(ctx.depth, 0, -1):
            if taken[k]:
                g.view(-1, width).index_add_(0, rows, per_row * (at_step == k))
            g0.add_(g, alpha=ctx.alpha)
            g, spare = ctx.adjacency.adjoint_product(g, 1 - ctx.alpha, out=spare), g
        g0.add_(g).view(-1, width).index_add_(0, rows, per_row * (at_step == 0))
        return g0, None, None, None, None, None, None


def _taken(steps: Tensor, depth: int) -> list[bool]:
    """Tell of every step whether any row took it; a GPU is not asked, for that would wait."""
    if steps.is_cuda:
        return [True] * (depth + 1)
    return [bool(count) for count in np.bincount(steps.numpy().ravel(), minlength=depth + 1)]


def selected_recursion(
    h0: Tensor,
    selected: Tensor,
    steps: Tensor,
    flat_rows: Tensor,
    adjacency: Adjacency,
    alpha: float,
    depth: int,
) -> Tensor:
    """Give rows read off the linear recursion their gradient with respect to h0.

    The backward pass is the same recursion run on the gradient, adding node i's gradient at its
    own step l_i. Nothing but the steps is stored, so memory does not grow with the depth.

    Args:
        h0: initial embeddings of all nodes and runs. Shape ``[R, n, d]``.
        selected: h_{l_i} of the chosen rows, computed without autograd. Shape ``[R, m, d]``.
        steps: l_i in 0 .. L. Shape ``[R, m]``.
        flat_rows: position of each row in ``h0.view(R * n, d)``. Shape ``[R, m]``.
        depth: the largest step that any row may have taken.
    """
    arguments = (h0, selected, steps, flat_rows, adjacency, alpha, depth)
    out: Tensor = _SelectedRecursion.apply(*arguments)  # type: ignore[no-untyped-call]
    return out
