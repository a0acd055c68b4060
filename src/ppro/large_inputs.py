"""A large graph prepared for a network: edges normalised by rows, features left on disk."""

from __future__ import annotations

import torch

from ppro.config import Settings
from ppro.feature_blocks import BlockedFeatures
from ppro.features import Features, row_normalised
from ppro.large_graph import LargeGraph
from ppro.network import Inputs
from ppro.priority import influence_by_rows
from ppro.propagation import Adjacency


def large_inputs(graph: LargeGraph, settings: Settings, device: torch.device) -> Inputs:
    """What :meth:`ppro.network.Inputs.prepare` makes, without the pair list.

    On a CPU the features stay in their file; a GPU gets them whole.
    """
    adjacency = Adjacency.from_rows(
        graph.starts,
        graph.columns,
        normalisation=settings.normalisation,
        self_loops=settings.self_loops,
    )
    z = influence_by_rows(graph.starts, graph.columns).to(torch.float32)
    features = _features(graph, settings, device)
    return Inputs(features, adjacency.to(device), z.to(device))


def _features(graph: LargeGraph, settings: Settings, device: torch.device) -> Features:
    if device.type == "cpu":
        return BlockedFeatures(graph.rows.read, graph.rows.shape, norm=settings.feature_norm)
    x = graph.features.to(device)
    return Features(row_normalised(x) if settings.feature_norm == "row" else x)
