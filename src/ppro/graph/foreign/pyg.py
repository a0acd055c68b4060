"""A ``Data`` of PyTorch Geometric."""

from __future__ import annotations

from typing import Any

from ppro.errors import DataError
from ppro.graph.foreign.parts import MASKS, Parts, as_mask, feature_matrix


def from_data(data: Any) -> Parts:
    """The parts of a Data, or of anything with attributes of the same names."""
    name = type(data).__name__
    features, edges = getattr(data, "x", None), data.edge_index
    if features is None or edges is None:
        what = "node features x" if features is None else "edge_index"
        raise DataError(f"{name}: no {what}; PPro needs both features and edges")
    weight = getattr(data, "edge_weight", None)
    found = feature_matrix(features, name)
    masks = {
        key: as_mask(mask, found.shape[0], f"{name}.{key}")
        for key in MASKS
        if (mask := getattr(data, key, None)) is not None
    }
    return Parts(
        name,
        edges.detach().cpu(),
        found,
        labels=getattr(data, "y", None),
        weight=None if weight is None else weight.detach().cpu(),
        masks=masks,
    )
