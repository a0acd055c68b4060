"""The normalised adjacency and its sparse product: the one place that knows sparse formats."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Normalisation = Literal["symmetric", "row"]

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


def csr(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A CSR tensor from entries sorted by row, with 32-bit indices where they suffice."""
    counts = torch.bincount(rows, minlength=shape[0])
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    small = max(values.shape[0], *shape) < 2**31
    index = torch.int32 if small else torch.int64
    return torch.sparse_csr_tensor(
        starts.to(index), columns.to(index), values, shape, check_invariants=False
    )


def with_values(matrix: Tensor, values: Tensor) -> Tensor:
    """The CSR matrix with the same pattern and other values."""
    return torch.sparse_csr_tensor(
        matrix.crow_indices(),
        matrix.col_indices(),
        values,
        matrix.shape,
        check_invariants=False,
    )


def row_indices(matrix: Tensor) -> Tensor:
    """The row of each stored entry of a CSR matrix."""
    lengths = matrix.crow_indices().diff()
    return torch.repeat_interleave(torch.arange(matrix.shape[0], device=matrix.device), lengths)


def transpose(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """The transpose of a CSR matrix, and the position of each of its entries in the original."""
    rows, columns = row_indices(matrix), matrix.col_indices().long()
    order = torch.argsort(columns, stable=True)
    shape = (matrix.shape[1], matrix.shape[0])
    return csr(columns[order], rows[order], matrix.values()[order], shape), order


def block_diagonal(matrix: Tensor, blocks: int) -> Tensor:
    """The pattern of a CSR matrix repeated along the diagonal; its values are all zero."""
    nnz, (rows, columns) = matrix.values().shape[0], matrix.shape
    index = torch.int32 if blocks * max(nnz, rows, columns) < 2**31 else torch.int64
    block = torch.arange(blocks, dtype=index, device=matrix.device).unsqueeze(1)
    starts = matrix.crow_indices()[:-1].to(index) + block * nnz
    ends = torch.tensor([blocks * nnz], dtype=index, device=matrix.device)
    return torch.sparse_csr_tensor(
        torch.cat([starts.view(-1), ends]),
        (matrix.col_indices().to(index) + block * columns).view(-1),
        torch.zeros(blocks * nnz, dtype=matrix.dtype, device=matrix.device),
        (blocks * rows, blocks * columns),
        check_invariants=False,
    )


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A normalised adjacency matrix Â, built once, and its products with node embeddings.

    Args:
        matrix: Â as a CSR tensor. Shape ``[n, n]``.
        adjoint: its transpose; the same tensor where Â is symmetric.
    """

    matrix: Tensor
    adjoint: Tensor

    @classmethod
    def build(
        cls,
        edge_index: Tensor,
        num_nodes: int,
        *,
        edge_weight: Tensor | None = None,
        normalisation: Normalisation = "symmetric",
        self_loops: bool = True,
        dtype: torch.dtype = torch.float32,
    ) -> Adjacency:
        """Normalise an adjacency: D^-1/2 A D^-1/2 (symmetric) or D^-1 A (row), A with or without I.

        Args:
            edge_index: both directions of every edge, sorted by row. Shape ``[2, E]``.
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
        values = values * scale[rows]
        if normalisation == "symmetric":
            values = values * scale[columns]
        matrix = csr(rows, columns, values.to(dtype), (num_nodes, num_nodes))
        if normalisation == "symmetric":
            return cls(matrix, matrix)
        return cls(matrix, transpose(matrix)[0])

    def to(self, device: torch.device) -> Adjacency:
        """The same adjacency on another device."""
        matrix = self.matrix.to(device)
        return Adjacency(matrix, matrix if self.adjoint is self.matrix else self.adjoint.to(device))

    def matmul(self, h: Tensor) -> Tensor:
        """Â h for embeddings of all runs at once, differentiable. Shape ``[n, ...]``."""
        product: Tensor = _Product.apply(h, self)  # type: ignore[no-untyped-call]
        return product


def spmm(matrix: Tensor, h: Tensor) -> Tensor:
    """Sparse matrix times embeddings ``[n, ...]``: one product over all trailing columns."""
    return (matrix @ h.reshape(h.shape[0], -1)).view(matrix.shape[0], *h.shape[1:])


def product_into(out: Tensor, matrix: Tensor, h: Tensor, factor: float) -> Tensor:
    """out = factor * matrix @ h, without a temporary."""
    flat_h, flat_out = h.view(h.shape[0], -1), out.view(out.shape[0], -1)
    torch.addmm(flat_out, matrix, flat_h, beta=0, alpha=factor, out=flat_out)
    return out


def mix_into(out: Tensor, matrix: Tensor, h: Tensor, other: Tensor, share: float) -> Tensor:
    """out = (1 - share) * matrix @ h + share * other, without a temporary."""
    flat = [t.view(t.shape[0], -1) for t in (other, h, out)]
    torch.addmm(flat[0], matrix, flat[1], beta=share, alpha=1 - share, out=flat[2])
    return out


class _Product(torch.autograd.Function):
    """Â h with the hand-written adjoint Âᵀ g."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return spmm(adjacency.matrix, h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return spmm(ctx.adjacency.adjoint, grads[0]), None


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
    ) -> Tensor:
        ctx.save_for_backward(steps, flat_rows)
        ctx.adjacency, ctx.alpha, ctx.shape = adjacency, alpha, h0.shape
        return selected.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = grads
        steps, flat_rows = ctx.saved_tensors
        width = ctx.shape[-1]
        rows, per_row = flat_rows.reshape(-1), gradient.reshape(-1, width)
        at_step = steps.reshape(-1, 1)
        g, spare = gradient.new_zeros(ctx.shape), gradient.new_empty(ctx.shape)
        g0 = gradient.new_zeros(ctx.shape)
        for k in range(int(steps.max()) if steps.numel() else 0, 0, -1):
            g.view(-1, width).index_add_(0, rows, per_row * (at_step == k))
            g0.add_(g, alpha=ctx.alpha)
            g, spare = product_into(spare, ctx.adjacency.adjoint, g, 1 - ctx.alpha), g
        g0.add_(g).view(-1, width).index_add_(0, rows, per_row * (at_step == 0))
        return g0, None, None, None, None, None


def selected_recursion(
    h0: Tensor,
    selected: Tensor,
    steps: Tensor,
    flat_rows: Tensor,
    adjacency: Adjacency,
    alpha: float,
) -> Tensor:
    """Give rows read off the linear recursion their gradient with respect to h0.

    The backward pass is the same recursion run on the gradient, adding node i's gradient at its
    own step l_i. Nothing but the steps is stored, so memory does not grow with the depth.

    Args:
        h0: initial embeddings of all nodes and runs. Shape ``[n, R, d]``.
        selected: h_{l_i} of the chosen rows, computed without autograd. Shape ``[R, m, d]``.
        steps: l_i in 0 .. L. Shape ``[R, m]``.
        flat_rows: position of each row in ``h0.view(n * R, d)``. Shape ``[R, m]``.
    """
    arguments = (h0, selected, steps, flat_rows, adjacency, alpha)
    out: Tensor = _SelectedRecursion.apply(*arguments)  # type: ignore[no-untyped-call]
    return out
