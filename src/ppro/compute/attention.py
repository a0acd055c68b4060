"""Attention over the entries of an adjacency, several heads and runs at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn

from ppro.compute.layers import Dropping, glorot, zeros
from ppro.compute.noise import Noise, matrix_ids
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import multiply, row_indices, transpose
from ppro.errors import SettingsError

SLOPE = 0.2
ATTENTION_SITE = 100_000
"""Dropout site of the coefficients in layer k: ``ATTENTION_SITE + k``."""


class Heads(nn.Module):
    """Σ_j a_ij z_j in every head, where z = h W (Veličković et al., 2018).

    a_ij is the softmax over j of LeakyReLU(t·z_i + s·z_j). The product with W is the caller's:
    features have one of their own.

    Args:
        fan_in: the width of h.
        heads: their number.
        width: the width of one head.
    """

    def __init__(
        self, rngs: Sequence[torch.Generator], fan_in: int, heads: int, width: int
    ) -> None:
        super().__init__()
        self.weight = glorot(rngs, fan_in, heads * width)
        self.target, self.source = glorot(rngs, heads, width), glorot(rngs, heads, width)

    def mixed(self, z: Tensor, h: Tensor, entries: Entries, scale: Tensor | None) -> Tensor:
        """Return Σ_j a_ij h_j of every head, a being the coefficients of z.

        Shapes: z and h ``[R, n, heads * d]`` to alike.
        """
        runs, nodes, width = z.shape
        heads = self.target.shape[1]
        by_head = self._by_head(z)
        a = self._coefficients(by_head, entries)
        if scale is not None:
            a = a * scale.reshape(runs * heads, -1)
        mixed = entries.mixture(a, by_head if h is z else self._by_head(h))
        return mixed.view(runs, heads, nodes, -1).transpose(1, 2).reshape(runs, nodes, width)

    def shares(self, z: Tensor, entries: Entries) -> Tensor:
        """Return ā_ij, the mean of a_ij over the heads. Shapes: z to ``[R, entries]``."""
        a = self._coefficients(self._by_head(z), entries)
        return a.view(*self.target.shape[:2], -1).mean(1)

    def _by_head(self, z: Tensor) -> Tensor:
        """Shapes: ``[R, n, heads * d]`` to ``[R * heads, n, d]``."""
        runs, nodes, _ = z.shape
        heads = self.target.shape[1]
        return z.view(runs, nodes, heads, -1).transpose(1, 2).reshape(runs * heads, nodes, -1)

    def _coefficients(self, z: Tensor, entries: Entries) -> Tensor:
        """Return a_ij of every head. Shapes: ``[R * heads, n, d]`` to ``[R * heads, entries]``."""
        target, source = (
            torch.bmm(z, vector.reshape(z.shape[0], -1, 1)).squeeze(-1)
            for vector in (self.target, self.source)
        )
        return entries.coefficients(target, source)


class Attention(Heads):
    """Heads side by side, or their mean, and a bias.

    Args:
        averaged: whether the layer gives the mean of the heads; else they are joined.
    """

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        fan_in: int,
        heads: int,
        width: int,
        *,
        averaged: bool = False,
    ) -> None:
        super().__init__(rngs, fan_in, heads, width)
        self.averaged = averaged
        self.bias = zeros(rngs, width if averaged else heads * width)

    def forward(self, z: Tensor, entries: Entries, scale: Tensor | None) -> Tensor:
        """Attend. Shapes: z ``[R, n, heads * d]`` to ĥ; scale ``[R, heads, nnz]``."""
        return self.together(self.mixed(z, z, entries, scale))

    def together(self, h: Tensor) -> Tensor:
        """Return the heads, joined or averaged, and the bias added. ``[R, m, heads * d]``."""
        if self.averaged:
            h = h.view(*h.shape[:2], self.target.shape[1], -1).mean(2)
        return h + self.bias.unsqueeze(1)


class Attending(Dropping):
    """A network with layers of attention: it knows the pattern of Â and drops coefficients.

    Of Â only the pattern counts: attention takes the place of its entries, so the normalisation
    and the weights of edges play no part. Edge dropout drops coefficients as it would entries.
    """

    _pattern: Pattern | None = None

    def attend(
        self, k: int, layer: Attention, z: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return the attention of layer k over z, with the dropout of its coefficients."""
        return layer.together(self.mixed(k, layer, z, z, adjacency, noise))

    def mixed(
        self,
        k: int,
        layer: Heads,
        z: Tensor,
        h: Tensor,
        adjacency: Adjacency,
        noise: Noise | None,
        *,
        dropping: bool = True,
    ) -> Tensor:
        """Return Σ_j a_ij h_j of every head, a being the coefficients of layer k over z.

        Args:
            dropping: whether coefficients are dropped like features, not with their edges alone.
        """
        entries, scale = self._entries_of(adjacency), None
        if noise is not None and dropping:
            scale = entries.scale(noise, layer.target.shape[1], ATTENTION_SITE + k)
        if noise is not None and adjacency.values is not None:
            left = kept(adjacency).unsqueeze(1)
            heads = layer.target.shape[1]
            scale = left.expand(-1, heads, -1) if scale is None else scale * left
        return layer.mixed(z, h, entries, scale)

    def around(self, layer: Heads, z: Tensor, h: Tensor, adjacency: Adjacency) -> Tensor:
        """Return Σ_j ā_ij h_j, by the mean coefficients of a layer that sees z. ``[R, n, d]``."""
        entries = self._entries_of(adjacency)
        shares = layer.shares(z, entries)
        if adjacency.values is not None:
            shares = shares * kept(adjacency)
        return entries.mixture(shares, h)

    def _entries_of(self, adjacency: Adjacency) -> Entries:
        """Return the entries of Â, listed once: on a GPU that waits for the device."""
        if adjacency.entries is not None:
            return cast(Entries, adjacency.entries)
        if self._pattern is None or self._pattern.matrix is not adjacency.matrix:
            self._pattern = Pattern.of(adjacency.matrix)
        return self._pattern


class Entries(ABC):
    """The entries (i, j) of an adjacency, as attention sees them; B is runs times heads."""

    @abstractmethod
    def coefficients(self, target: Tensor, source: Tensor) -> Tensor:
        """a_ij = softmax over j of LeakyReLU(t_i + s_j). ``[B, n]`` twice to ``[B, entries]``."""

    @abstractmethod
    def mixture(self, a: Tensor, z: Tensor) -> Tensor:
        """Σ_j a_ij z_j. Shapes: a ``[B, entries]``, z ``[B, n, d]`` to ``[B, n, d]``."""

    @abstractmethod
    def scale(self, noise: Noise, heads: int, site: int) -> Tensor:
        """Return what dropout multiplies the coefficients with. Shape ``[R, heads, entries]``."""


@dataclass(frozen=True, eq=False)
class Pattern(Entries):
    """The entries of a CSR matrix, and of its transpose in the order that ``order`` gives."""

    matrix: Tensor
    adjoint: Tensor
    order: Tensor
    rows: Tensor
    columns: Tensor
    _ids: dict[int, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, matrix: Tensor) -> Pattern:
        """List the entries."""
        adjoint, order = transpose(matrix)
        return cls(matrix, adjoint, order, row_indices(matrix), matrix.col_indices().long())

    def coefficients(self, target: Tensor, source: Tensor) -> Tensor:
        """a_ij, with an adjoint of its own."""
        a: Tensor = _Coefficients.apply(target, source, self)  # type: ignore[no-untyped-call]
        return a

    def mixture(self, a: Tensor, z: Tensor) -> Tensor:
        """Σ_j a_ij z_j, with an adjoint of its own."""
        mixed: Tensor = _Mixture.apply(a, z, self)  # type: ignore[no-untyped-call]
        return mixed

    def scale(self, noise: Noise, heads: int, site: int) -> Tensor:
        """Return what dropout multiplies the coefficients with; the ids are worked out once."""
        if heads not in self._ids:
            rows = torch.arange(heads, device=self.rows.device)
            self._ids[heads] = matrix_ids(rows, self.rows.shape[0]).unsqueeze(0)
        return noise.scale(self._ids[heads], site)

    def of_rows(self, values: Tensor) -> Tensor:
        """Return what the row of each entry holds. Shapes: ``[B, n, ...]`` to ``[B, nnz, ...]``."""
        return values.index_select(1, self.rows)

    def of_columns(self, values: Tensor) -> Tensor:
        """Return what the column of each entry holds."""
        return values.index_select(1, self.columns)

    def row_sums(self, values: Tensor) -> Tensor:
        """Shapes: ``[B, nnz]`` to ``[B, n]``."""
        ones = values.new_ones(values.shape[0], self.matrix.shape[0], 1)
        return multiply(self.matrix, ones, values=values.contiguous()).squeeze(-1)

    def column_sums(self, values: Tensor) -> Tensor:
        """Shapes: ``[B, nnz]`` to ``[B, n]``."""
        ones = values.new_ones(values.shape[0], self.matrix.shape[0], 1)
        return multiply(self.adjoint, ones, values=values.index_select(1, self.order)).squeeze(-1)


def kept(adjacency: Adjacency) -> Tensor:
    """Return what edge dropout multiplies entries with. Shape ``[R, nnz]``."""
    assert adjacency.values is not None
    return adjacency.values / adjacency.matrix.values()


def head_width(hidden: int, heads: int) -> int:
    """Return the width of one head where all together have ``hidden``.

    Raises:
        SettingsError: it cannot be split evenly.
    """
    if hidden % heads:
        raise SettingsError(
            f"gat: hidden = {hidden} cannot be split over {heads} heads; "
            f"set hidden to a multiple of heads, for example {heads * (hidden // heads + 1)}"
        )
    return hidden // heads


class _Coefficients(torch.autograd.Function):
    """a_ij = softmax over j of LeakyReLU(t_i + s_j). Shapes: ``[B, n]`` twice to ``[B, nnz]``."""

    @staticmethod
    def forward(ctx: Any, target: Tensor, source: Tensor, pattern: Pattern) -> Tensor:
        score = pattern.of_rows(target) + pattern.of_columns(source)
        slope = torch.full_like(score, SLOPE).masked_fill_(score > 0, 1.0)
        score = score * slope
        rows = pattern.rows.expand_as(score)
        highest = torch.full_like(target, -torch.inf).scatter_reduce(1, rows, score, "amax")
        e = torch.exp(score - pattern.of_rows(highest))
        a = e / pattern.of_rows(pattern.row_sums(e))
        ctx.save_for_backward(a, slope)
        ctx.pattern = pattern
        return a

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (a, slope), pattern = ctx.saved_tensors, ctx.pattern
        share = a * grads[0]
        g = (share - a * pattern.of_rows(pattern.row_sums(share))) * slope
        return pattern.row_sums(g), pattern.column_sums(g), None


class _Mixture(torch.autograd.Function):
    """Σ_j a_ij z_j. Shapes: a ``[B, nnz]``, z ``[B, n, d]`` to ``[B, n, d]``."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, z: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(a, z)
        ctx.pattern = pattern
        return multiply(pattern.matrix, z, values=a)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (a, z), pattern, g = ctx.saved_tensors, ctx.pattern, grads[0].contiguous()
        to_a = (pattern.of_rows(g) * pattern.of_columns(z)).sum(-1)
        return to_a, multiply(pattern.adjoint, g, values=a.index_select(1, pattern.order)), None
