"""Settings that bring the features of any graph to a scale on which a first layer starts well.

Entries end up at about one in size, whatever the features are: words, counts, yes and no, or
measurements of any unit. Numbers, shifts and units that say nothing leave no trace.
"""

from typing import Any

import torch
from torch import Tensor

from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph

WORDS = 8
"""Entries of a row, on average, from which rows are brought to one length: they are texts."""
ALIKE = 10.0
"""Columns whose sizes differ by no more than this factor are taken as of one unit."""
MOST_DENSE = 4096
"""Columns up to which sparse features may become dense, where some of them are."""
FULL = 0.2
"""Share of entries that differ from what most nodes have, of the columns that have such,
from which they are centred as others are."""
DIGITS = 6
"""Numbers are kept with so many digits, so that settings can be read."""


def input_settings(graph: Graph) -> dict[str, Any]:
    """Return the settings of the features of a graph; for one on disk, its rows sum to one."""
    if isinstance(graph, LargeGraph):
        return {"feature_norm": "row"}
    features = graph.features
    if features.layout == torch.sparse_csr:
        counts = torch.bincount(features.col_indices().long(), minlength=features.shape[1])
        full = features.values().numel() > FULL * features.numel()
        mixed = full or bool((2 * counts > features.shape[0]).any())
        if not mixed or features.shape[1] > MOST_DENSE:
            return _of_entries(features.values(), features.col_indices().long(), features.shape)
    return _of_columns(features.to_dense())


def _of_columns(x: Tensor) -> dict[str, Any]:
    """Return the settings of a dense matrix, column by column.

    What most nodes have is nothing to tell: a column is shifted by the value that more than half of
    them share. Others, and all where few entries would be zero, are shifted by their mean.
    """
    median = x.median(0).values
    common = 2 * (x == median).sum(0) > x.shape[0]
    shift = torch.where(common, median, x.to(torch.float64).mean(0).to(x.dtype))
    moved = x - shift
    if float((moved[:, common] != 0).sum()) > FULL * moved[:, common].numel():
        # Their common part would drown what tells the nodes apart.
        shift = x.to(torch.float64).mean(0).to(x.dtype)
        moved = x - shift
    elif bool(common.all()):
        rows, columns = moved.nonzero(as_tuple=True)
        found = _of_entries(moved[rows, columns], columns, x.shape)
        return {**found, "feature_shift": _numbers(shift)} if bool(shift.any()) else found
    size = _sizes(moved.flatten(), torch.arange(x.shape[1]).repeat(x.shape[0]), x.shape[1])
    return {
        "feature_norm": "none",
        "feature_shift": _numbers(shift),
        "feature_spread": _numbers(size),
    }


def _of_entries(values: Tensor, columns: Tensor, shape: torch.Size) -> dict[str, Any]:
    """Return the settings of a sparse matrix from its entries."""
    kept = values != 0
    values, columns = values[kept], columns[kept]
    if not values.numel():
        return {"feature_norm": "none"}
    sizes = _sizes(values, columns, shape[1])
    seen = sizes[torch.bincount(columns, minlength=shape[1]) > 0]
    low, high = torch.quantile(seen[:: max(1, seen.numel() // 10_000)], seen.new_tensor([0.1, 0.9]))
    found: dict[str, Any] = {}
    if float(high) > ALIKE * float(low):
        found = {"feature_spread": _numbers(sizes)}
    per_row = values.numel() / shape[0]
    if per_row >= WORDS:
        length = float(f"{per_row**0.5:.{DIGITS}g}")
        return {**found, "feature_norm": "unit", "feature_length": length}
    if not found:
        size = values.to(torch.float64).square().mean().sqrt().to(torch.float32)
        found = {"feature_spread": _numbers(size.view(1))}
    return {**found, "feature_norm": "none"}


def _sizes(values: Tensor, columns: Tensor, width: int) -> Tensor:
    """Return the root mean square of the entries of each column that are not zero, else 1."""
    kept = values != 0
    values, columns = values[kept].to(torch.float64), columns[kept]
    square = torch.zeros(width, dtype=torch.float64).index_add_(0, columns, values.square())
    size = (square / torch.bincount(columns, minlength=width).clamp(min=1)).sqrt()
    return torch.where(size > 0, size, 1.0).to(torch.float32)


def _numbers(values: Tensor) -> tuple[float, ...]:
    """Return numbers for settings; one where all are the same."""
    found = tuple(float(f"{value:.{DIGITS + 2}g}") for value in values.tolist())
    return found[:1] if len(set(found)) == 1 else found
