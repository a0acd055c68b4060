"""From a graph, its splits and settings to the parts that train: inputs, model, rows."""

import logging
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ppro.compute.allocator import return_freed_memory
from ppro.compute.features import lost_rows
from ppro.compute.layers import generators
from ppro.compute.precision import in_float32
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.direction import check_direction
from ppro.graph.large import LargeGraph
from ppro.nn.backbones import Backbone
from ppro.nn.batched import PProNetwork
from ppro.nn.comparing.network import ComparingNetwork, compares
from ppro.nn.controller_blocks import BlockedControllers
from ppro.nn.large_inputs import large_inputs
from ppro.nn.network import Inputs, Network, Rows
from ppro.nn.part import NetworkSizes
from ppro.parts import RIVALS
from ppro.settings.settings import PPRO, Settings
from ppro.training.memory import check_fits

logger = logging.getLogger(__name__)

OwnBackbone = type[Backbone] | nn.Module | Sequence[nn.Module]
"""A class of backbones, a BasicGNN of PyTorch Geometric, or a list of its convolutions."""


def network_class(settings: Settings) -> type[Network]:
    """PPro, or the rival that the settings name."""
    if settings.model != PPRO:
        rival: type[Network] = RIVALS.get(settings.model)
        return rival
    return ComparingNetwork if compares(settings) else PProNetwork


@in_float32()
def prepare_inputs(graph: Graph, settings: Settings, device: torch.device, runs: int = 1) -> Inputs:
    """Return the graph as the network of these settings wants it.

    Args:
        runs: how many will be trained together; decides what a large graph needs.

    Raises:
        SettingsError: a large graph does not fit the machine, its edges are to be read one way,
            or its controllers would compare.
    """
    made = network_class(settings)
    if isinstance(graph, LargeGraph):
        check_direction(graph, settings.inputs.direction)
    if isinstance(graph, LargeGraph) and compares(settings):
        raise SettingsError(
            f"{graph.name}: teaching=compare keeps what every step predicts of all nodes, which is "
            "too much for a graph on disk; set teaching=paper"
        )
    # A network that prepares a graph in a way of its own needs the pair list.
    usual = getattr(made.prepare, "__func__", None) is getattr(Network.prepare, "__func__", made)
    if not isinstance(graph, LargeGraph) and (
        lost := lost_rows(graph.features, settings.inputs.form)
    ):
        logger.warning(
            "%s: %d rows of features become zero when normalised (feature_norm=%s), for their "
            "numbers are out of range; scale them before",
            *(graph.name, lost, settings.inputs.feature_norm),
        )
    if not (isinstance(graph, LargeGraph) and usual):
        return made.prepare(graph, settings, device)
    if device.type == "cpu":
        needed = check_fits(graph, settings, runs)
        # The one line of a library that a user should see unasked: hours may depend on it.
        logger.warning("%s needs %s of memory", graph.name, needed)
        return_freed_memory()
    return large_inputs(graph, settings, device)


def build_backbone(sizes: NetworkSizes, settings: Settings, own: OwnBackbone) -> Backbone:
    """Return the user's own backbone, with initial weights of every run."""
    if isinstance(own, type):
        if not issubclass(own, Backbone):
            raise SettingsError(
                f"{own.__name__} is a class, but no subclass of ppro.nn.backbones.Backbone; give "
                "one, a BasicGNN of PyTorch Geometric or a list of its convolutions"
            )
        made: Callable[..., Backbone] = own
        return made(sizes, settings.network)
    from ppro.nn.backbones.pyg import Adapted

    return Adapted(sizes.rngs, sizes.features, sizes.classes, own)


def settings_for(own: OwnBackbone | None, settings: Sequence[Settings]) -> list[Settings]:
    """Return the settings with the number of steps that a given model of PyTorch Geometric has."""
    if own is None or isinstance(own, type):
        return list(settings)
    from ppro.nn.backbones.pyg import number_of_steps

    return [s.replace(max_steps=number_of_steps(own)) for s in settings]


@in_float32()
def build_model(
    num_features: int,
    num_classes: int,
    settings: Sequence[Settings],
    device: torch.device,
    backbone: OwnBackbone | None = None,
) -> Network:
    """Return a model with one run for each of the settings.

    Args:
        backbone: as for :func:`ppro.training.fit.fit`.
    """
    check_same_program(settings)
    sizes = NetworkSizes(generators([s.seed for s in settings]), num_features, num_classes)
    if backbone is None:
        made = network_class(settings[0]).from_settings(sizes, settings)
        return _for_any_size(made).to(device)
    if settings[0].model != PPRO:
        raise SettingsError(f"model {settings[0].model} has no backbone; leave one of them out")
    own = build_backbone(sizes, settings[0], backbone)
    if compares(settings[0]):
        return ComparingNetwork.around(own, sizes, settings).to(device)
    return _for_any_size(PProNetwork.around(own, sizes, settings)).to(device)


@in_float32()
def parameter_shapes(
    num_features: int, num_classes: int, settings: Settings
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of one run, by name, without making any."""
    with torch.device("meta"):
        sizes = NetworkSizes(generators([settings.seed], "cpu"), num_features, num_classes)
        model = network_class(settings).from_settings(sizes, [settings])
    return {name: tuple(parameter.shape[1:]) for name, parameter in model.named_parameters()}


def _for_any_size(model: Network) -> Network:
    """Return the model with controllers that take many rows in blocks."""
    if isinstance(model, PProNetwork) and model.controllers is not None:
        model.controllers = BlockedControllers.of(model.controllers)
    return model


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
    """Return the nodes of each run's mask as rows, padded to the longest. ``masks``: ``[R, n]``."""
    lists = [mask.nonzero().squeeze(1) for mask in masks]
    nodes = torch.nn.utils.rnn.pad_sequence(lists, batch_first=True)
    lengths = torch.tensor([len(nodes_of_run) for nodes_of_run in lists])
    valid = torch.arange(nodes.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
    seen = torch.where(valid, labels[nodes], 0)
    return Rows(nodes.to(device), seen.to(device), valid.to(torch.float32).to(device))


def all_rows(graph: Graph, runs: int, device: torch.device) -> Rows:
    """Return every node of the graph as a row of every run; labels are not given away."""
    nodes = torch.arange(graph.num_nodes, device=device).expand(runs, -1)
    return Rows(nodes, torch.zeros_like(nodes), torch.ones_like(nodes, dtype=torch.float32))
