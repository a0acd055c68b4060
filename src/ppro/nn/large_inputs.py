"""A large graph prepared for a network: edges normalised by rows, features left on disk."""

import torch

from ppro.compute.feature_blocks import BlockedFeatures
from ppro.compute.features import Features, normalised
from ppro.compute.propagation import Adjacency
from ppro.graph.large import LargeGraph
from ppro.nn.network import Inputs
from ppro.nn.priority import RowEdges, influence
from ppro.settings.settings import Settings


def large_inputs(graph: LargeGraph, settings: Settings, device: torch.device) -> Inputs:
    """Return what :meth:`ppro.nn.network.Inputs.prepare` makes, without the pair list.

    On a CPU the features stay in their file; a GPU gets them whole.
    """
    adjacency = Adjacency.from_rows(
        graph.starts,
        graph.columns,
        normalisation=settings.inputs.normalisation,
        self_loops=settings.inputs.self_loops,
    )
    edges = RowEdges(graph.starts, graph.columns)
    z = influence(edges, settings.controllers.measures).to(torch.float32)
    features = _features(graph, settings, device)
    return Inputs(features, adjacency.to(device), z.to(device))


def _features(graph: LargeGraph, settings: Settings, device: torch.device) -> Features:
    if device.type == "cpu":
        return BlockedFeatures(graph.rows.read, graph.rows.shape, norm=settings.inputs.form)
    x = graph.features.to(device)
    return Features(normalised(x, settings.inputs.form))
