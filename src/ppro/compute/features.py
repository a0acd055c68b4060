"""Node features and the first linear layer over them, sparse as long as they are sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ppro.compute.feature_products import FEATURE_SITE as FEATURE_SITE
from ppro.compute.feature_products import DenseDropped, KeptProducts, SparseDropped, wants_sparse
from ppro.compute.noise import Noise, matrix_ids
from ppro.compute.sparse import row_indices, with_values
from ppro.errors import SettingsError
from ppro.parts.choices import FeatureForm, FeatureNorm

NODE_SITE = 3
SPARSE = 0.25
"""Share of entries that are not zero below which shifted features are kept as a sparse matrix."""


def normalised(features: Tensor, form: FeatureForm | FeatureNorm) -> Tensor:
    """Return features as a network sees them.

    Raises:
        SettingsError: there are numbers for another number of columns.
    """
    form = form if isinstance(form, FeatureForm) else FeatureForm(form)
    features = _shifted(features, form)
    if form.norm == "none":
        return features
    if form.norm == "row":
        return row_normalised(features)
    rows = unit_rows(features)
    if form.length == 1:
        return rows
    if rows.layout == torch.sparse_csr:
        return with_values(rows, rows.values() * form.length)
    return rows * form.length


def _shifted(features: Tensor, form: FeatureForm) -> Tensor:
    """Return the columns shifted and divided; sparse where that leaves mostly zeros."""
    for numbers in (form.shift, form.spread):
        if len(numbers) not in (0, 1, features.shape[1]):
            raise SettingsError(
                f"feature_shift or feature_spread has {len(numbers)} numbers for "
                f"{features.shape[1]} features; give one for each, one for all, or none"
            )
    if not any(form.shift) and features.layout == torch.sparse_csr:
        if not form.spread:
            return features
        spread = features.values().new_tensor(form.spread).expand(features.shape[1])
        return with_values(features, features.values() / spread[features.col_indices().long()])
    if not form.shift and not form.spread:
        return features
    dense = features.to_dense()
    made = (dense - dense.new_tensor(form.shift or (0.0,))) / dense.new_tensor(
        form.spread or (1.0,)
    )
    few = float((made != 0).sum()) < SPARSE * made.numel()
    return made.to_sparse_csr() if few else made


def lost_rows(features: Tensor, form: FeatureForm | FeatureNorm) -> int:
    """Return how many rows hold numbers that normalising turns into zeros, or into no numbers.

    Sums and squares of very large or very small numbers leave the range of float32.
    """
    form = form if isinstance(form, FeatureForm) else FeatureForm(form)
    features = _shifted(features, form)
    if (norm := form.norm) == "none":
        return 0
    before, after = (_largest_of_rows(x) for x in (features, normalised(features, norm)))
    return int(((before != 0) & ~((after > 0) & after.isfinite())).sum())


def _largest_of_rows(features: Tensor) -> Tensor:
    """Return the largest absolute value of each row, or NaN. Shape ``[n]``."""
    if features.layout != torch.sparse_csr:
        return features.abs().amax(1) if features.shape[1] else features.new_zeros(len(features))
    rows, values = row_indices(features), features.values().abs()
    return values.new_zeros(features.shape[0]).scatter_reduce_(0, rows, values, "amax")


def unit_rows(features: Tensor) -> Tensor:
    """Return each row divided by its Euclidean length; a row of zeros stays as it is."""
    if features.layout != torch.sparse_csr:
        length = torch.linalg.vector_norm(features, dim=1, keepdim=True)
        return features / torch.where(length == 0, 1.0, length)
    rows, values = row_indices(features), features.values()
    square = values.new_zeros(features.shape[0]).index_add_(0, rows, values.square())
    length = torch.where(square == 0, 1.0, square).sqrt()
    return with_values(features, values / length[rows])


def row_normalised(features: Tensor) -> Tensor:
    """Each row divided by the sum of its absolute values; a row of zeros stays as it is."""
    if features.layout != torch.sparse_csr:
        total = features.abs().sum(1, keepdim=True)
        return features / torch.where(total == 0, 1.0, total)
    rows = row_indices(features)
    values = features.values()
    total = values.new_zeros(features.shape[0]).index_add_(0, rows, values.abs())
    return with_values(features, values / torch.where(total == 0, 1.0, total)[rows])


def rows_of_runs(x: Tensor, ids: Tensor, runs: int, noise: Noise | None) -> Tensor:
    """Rows of every run, without those that the noise drops. Shapes: ``[n, f]`` to ``[R, n, f]``.

    Where none are dropped, all runs share one matrix (a stride of 0).

    Args:
        ids: dropout ids of the rows. Shape ``[1, n]``.
    """
    x = x.expand(runs, *x.shape)
    if noise is None or noise.node_rates is None:
        return x
    return x * noise.scale(ids, NODE_SITE, noise.node_rates).unsqueeze(-1)


class Features:
    """Features X of all nodes, ready for ``dropout(X) W`` of many runs.

    Args:
        matrix: X, dense or sparse CSR. Shape ``[n, f]``.
        numbers: the nodes of the rows in the whole graph, or None where these are all. ``[n]``.

    Attributes:
        nodes: the nodes of the rows where they are a block of all rows, else None. ``[1, b]``.
    """

    nodes: Tensor | None = None

    def __init__(self, matrix: Tensor, numbers: Tensor | None = None) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.forward: SparseDropped | DenseDropped
        self.adjoint: SparseDropped | DenseDropped
        if numbers is None:
            numbers = torch.arange(self.shape[0], device=matrix.device)
        if wants_sparse(matrix):
            matrix = matrix.to_sparse_csr()
        dropped = SparseDropped if matrix.layout == torch.sparse_csr else DenseDropped
        self.forward, self.adjoint = dropped.pair(matrix, numbers)
        self._kept = KeptProducts()
        self._row_ids = matrix_ids(numbers, 1).squeeze(-1).unsqueeze(0)

    @cached_property
    def dense(self) -> Tensor:
        """X as a dense matrix, for layers that take no other. Shape ``[n, f]``."""
        return self.forward.matrix.to_dense()

    def of_runs(self, runs: int, noise: Noise | None) -> Tensor:
        """X of every run, without the rows that the noise drops. Shape ``[R, n, f]``."""
        return rows_of_runs(self.dense, self._row_ids, runs, noise)

    def through(self, layers: Callable[[Features], Tensor], parameters: Sequence[Tensor]) -> Tensor:
        """Layers that work on each row by itself, one after the other where on disk.

        Args:
            layers: from features to ``[R, rows, d]``; called again in the backward pass.
            parameters: the weights of the layers.
        """
        return layers(self)

    def linear(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """dropout(X) W of every run, differentiable in W.

        Where the noise drops nodes too, whole rows of X go.

        Args:
            weight: W of each run. Shape ``[R, f, d]``.
            noise: the dropout of this pass, or None to drop nothing.

        Returns:
            Shape ``[R, n, d]``.
        """
        drawn = noise if noise is not None and self._drops(noise) else None
        if drawn is None and weight.requires_grad and torch.is_grad_enabled():
            # A pass that learns without dropout tells that later ones will ask for the same.
            self._kept.wanted = True
        out: Tensor = _FeatureLinear.apply(weight, self, drawn)  # type: ignore[no-untyped-call]
        if noise is None or noise.node_rates is None:
            return out
        # A row of X that is zero makes a row of X W that is zero.
        return out * noise.scale(self._row_ids, NODE_SITE, noise.node_rates).unsqueeze(-1)

    def _drops(self, noise: Noise) -> bool:
        """Tell whether any run drops elements of X; a GPU is not asked, for that would wait."""
        return noise.rates.is_cuda or bool(noise.rates_at(FEATURE_SITE).numpy().any())

    def product(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """dropout(X) W without autograd; X W of the same W is not computed twice in a row."""
        if noise is not None:
            return self.forward.product(weight, noise)
        return self._kept.get(weight, lambda: self.forward.product(weight, None))


class _FeatureLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, features: Features, noise: Noise | None) -> Tensor:
        ctx.features, ctx.noise = features, noise
        return features.product(weight, noise)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.features.adjoint.product(grads[0], ctx.noise), None, None
