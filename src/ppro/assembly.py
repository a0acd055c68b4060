"""From a graph, its splits and settings to the parts that train: inputs, model, rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ppro.backbones import BACKBONES, Backbone
from ppro.config import Settings
from ppro.controllers import Controllers
from ppro.errors import SettingsError
from ppro.features import Features, row_normalised
from ppro.graph import Graph
from ppro.layers import generators
from ppro.model import Inputs, Parts, PPro, Rows
from ppro.priority import influence
from ppro.propagation import Adjacency

OwnBackbone = type[Backbone] | nn.Module | Sequence[nn.Module]
"""A class of backbones, a BasicGNN of PyTorch Geometric, or a list of its convolutions."""


def prepare_inputs(graph: Graph, settings: Settings, device: torch.device) -> Inputs:
    """Normalise features and adjacency and compute the priorities that never change."""
    x = row_normalised(graph.features) if settings.feature_norm == "row" else graph.features
    adjacency = Adjacency.build(
        graph.edge_index,
        graph.num_nodes,
        edge_weight=graph.edge_weight,
        normalisation=settings.normalisation,
        self_loops=settings.self_loops,
    )
    z = influence(graph.edge_index, graph.num_nodes).to(torch.float32)
    return Inputs(Features(x.to(device)), adjacency.to(device), z.to(device))


def build_backbone(
    rngs: Sequence[torch.Generator],
    num_features: int,
    num_classes: int,
    settings: Settings,
    own: OwnBackbone | None = None,
) -> Backbone:
    """The backbone that the settings name, or the user's own, with initial weights of every run."""
    if own is not None and not isinstance(own, type):
        from ppro.backbones.pyg import Adapted

        return Adapted(rngs, num_features, num_classes, own)
    made = own or BACKBONES[settings.backbone]
    return made.from_settings(rngs, num_features, num_classes, settings)


def settings_for(own: OwnBackbone | None, settings: Sequence[Settings]) -> list[Settings]:
    """The settings with the number of steps that a given model of PyTorch Geometric has."""
    if own is None or isinstance(own, type):
        return list(settings)
    from ppro.backbones.pyg import number_of_steps

    return [s.replace(max_steps=number_of_steps(own)) for s in settings]


def build_model(
    num_features: int,
    num_classes: int,
    settings: Sequence[Settings],
    device: torch.device,
    backbone: OwnBackbone | None = None,
) -> PPro:
    """A model with one run for each of the settings.

    Args:
        backbone: as for :func:`ppro.fitting.fit`.
    """
    first = settings[0]
    check_same_program(settings)
    rngs = generators([s.seed for s in settings])
    made = build_backbone(rngs, num_features, num_classes, first, backbone)
    if device.type == "cuda" and not made.capturable:
        raise SettingsError("layers of PyTorch Geometric cannot be recorded; train on the CPU")
    controllers = None
    if first.strategy != "none":
        predictions = first.controller_inputs == "predictions"
        controllers = Controllers(
            rngs,
            num_classes if predictions else made.width,
            first.controller_units,
            [float(s.propagation_bias or 0.0) for s in settings],
            first.weight_form,
        )
    parts = Parts(
        propagation=first.use_propagation,
        weighting=first.use_weighting,
        priority=first.use_priority,
        step=first.use_step,
        predictions=first.controller_inputs == "predictions",
    )
    epsilon = torch.tensor([s.epsilon for s in settings])
    model = PPro(made, controllers, first.strategy, first.max_steps, epsilon, parts)
    return model.to(device)


def check_same_program(settings: Sequence[Settings]) -> None:
    """Runs of one batch may differ in their numbers, not in their shape."""
    first = settings[0].program()
    for other in settings[1:]:
        differing = [key for key, value in other.program().items() if value != first[key]]
        if differing:
            raise SettingsError(
                f"runs of one batch must share {', '.join(differing)}; train them separately"
            )


def rows_from_masks(masks: Tensor, labels: Tensor, device: torch.device) -> Rows:
    """The nodes of each run's mask as rows, padded to the longest. ``masks``: ``[R, n]``."""
    lists = [mask.nonzero().squeeze(1) for mask in masks]
    nodes = torch.nn.utils.rnn.pad_sequence(lists, batch_first=True)
    lengths = torch.tensor([len(nodes_of_run) for nodes_of_run in lists])
    valid = torch.arange(nodes.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
    seen = torch.where(valid, labels[nodes], 0)
    return Rows(nodes.to(device), seen.to(device), valid.to(torch.float32).to(device))


def all_rows(graph: Graph, runs: int, device: torch.device) -> Rows:
    """Every node of the graph as a row of every run; labels are not given away."""
    nodes = torch.arange(graph.num_nodes, device=device).expand(runs, -1)
    return Rows(nodes, torch.zeros_like(nodes), torch.ones_like(nodes, dtype=torch.float32))
