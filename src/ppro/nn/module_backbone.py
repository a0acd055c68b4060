"""The backbone of the module: one of ours by name or class, or modules of the user's own."""

import inspect
from collections.abc import Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch_geometric.nn.models.basic_gnn import BasicGNN

from ppro.compute.features import Features
from ppro.compute.layers import RunLinear
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.errors import SettingsError
from ppro.nn.backbones import Backbone
from ppro.nn.backbones.pyg import Convolving, common_width, layers_of, mean_around
from ppro.nn.module_inputs import EdgeAdjacency
from ppro.nn.part import NetworkSizes
from ppro.parts import BACKBONES
from ppro.settings.groups import NetworkSettings

AnyBackbone = str | type[Backbone] | nn.Module | Sequence[nn.Module]
"""A name, a subclass of Backbone, a BasicGNN, convolutions, or a module with the methods below."""


class OwnBackbone(Protocol):
    """What a module of one's own must have to be a backbone: all embeddings of one width."""

    def embed(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        """Return h^(0). Shapes: ``[n, f]`` to ``[n, hidden_channels]``."""

    def step(
        self, k: int, h: Tensor, h0: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return ĥ^(k), what the neighbours of each node hold, and h^(k), from h^(k-1).

        Eq. 5 compares ĥ^(1) with h^(0), so aggregate before weights and dropout.
        """

    def classify(self, h: Tensor) -> Tensor:
        """Return logits. Shapes: ``[m, hidden_channels]`` to ``[m, c]``."""


def settings_class(backbone: AnyBackbone) -> type[NetworkSettings]:
    """Return the class of a backbone's settings; modules of one's own have only the common two."""
    if isinstance(backbone, str):
        backbone = cast(type[Backbone], BACKBONES.get(backbone))
    if isinstance(backbone, type) and not issubclass(backbone, Backbone):
        raise SettingsError(
            f"{backbone.__name__} is a class, but no subclass of ppro.nn.backbones.Backbone; give "
            "an object of it, with its sizes"
        )
    return backbone.settings_class if isinstance(backbone, type) else NetworkSettings


def steps_of(backbone: AnyBackbone, num_steps: int | None) -> int:
    """Return L; convolutions fix it, since each but the first is a step."""
    if not _has_convolutions(backbone):
        if num_steps is None:
            raise SettingsError("PPro: num_steps is missing; give the largest number of steps")
        return num_steps
    found = len(layers_of(cast(nn.Module, backbone))) - 1
    if num_steps not in (None, found):
        raise SettingsError(
            f"PPro: num_steps = {num_steps}, but {found + 1} convolutions make {found} steps: the "
            "first one gives h0; leave num_steps out, or change the number of convolutions"
        )
    return found


def build(backbone: AnyBackbone, sizes: NetworkSizes, own: NetworkSettings) -> Backbone:
    """Return the backbone of a module; modules of one's own are held, not copied."""
    if isinstance(backbone, str):
        backbone = cast(type[Backbone], BACKBONES.get(backbone))
    if isinstance(backbone, type):
        made: Any = backbone
        return cast(Backbone, made(sizes, own))
    if _has_convolutions(backbone):
        held = HeldConvolutions(backbone, sizes)
        if held.width != own.hidden:
            raise SettingsError(
                f"PPro: hidden_channels = {own.hidden}, but the convolutions give embeddings of "
                f"width {held.width}; make them agree"
            )
        return held
    return HeldModule(cast(nn.Module, backbone), own.hidden, sizes.classes)


def _has_convolutions(backbone: AnyBackbone) -> bool:
    return isinstance(backbone, BasicGNN | nn.ModuleList) or (
        isinstance(backbone, Sequence) and not isinstance(backbone, str)
    )


class HeldConvolutions(Convolving):
    """A BasicGNN, or convolutions, as they are: with their own norms, statistics and dropout.

    A BasicGNN drops h between its layers as it does by itself; X, what the classifier sees and,
    in a list, h between the layers are dropped as PPro is told to.
    """

    def __init__(self, gnn: Any, sizes: NetworkSizes) -> None:
        super().__init__()
        # A tuple hides these from nn.Module: their parts are those of ``gnn``.
        self._layers = tuple(layers_of(gnn))
        self.gnn = gnn if isinstance(gnn, nn.Module) else nn.ModuleList(gnn)
        training = {module: module.training for module in self.gnn.modules()}
        self.gnn.eval()
        self.width = common_width(self._layers, sizes.features)
        for module, was in training.items():
            module.training = was
        self.output = RunLinear(sizes.rngs, self.width, sizes.classes)
        self._weighted = all(_takes_weights(layer.conv) for layer in self._layers)

    def decayed(self) -> list[nn.Parameter]:
        """Return the first convolution."""
        return list(self._layers[0].conv.parameters())

    def dropout_step(self, h: Tensor, noise: Noise | None, k: int) -> Tensor:
        """Inverted dropout in step k, that of a BasicGNN where there is one."""
        own = getattr(self.gnn, "dropout", None)
        if own is None:
            return super().dropout_step(h, noise, k)
        dropped: Tensor = own(h)
        return dropped

    def convolve(self, k: int, h: Tensor, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return conv_k(h), and it normalised and activated."""
        edges = cast(EdgeAdjacency, adjacency)
        if edges.edge_weight is not None and not self._weighted:
            raise SettingsError(
                "the convolutions take no edge_weight; leave it out, or choose others"
            )
        aggregate, updated = self._layers[k](h[0], edges.edge_index, edges.edge_weight)
        return aggregate.unsqueeze(0), updated.unsqueeze(0)

    def mean_around(self, h: Tensor, adjacency: Adjacency) -> Tensor:
        """Return the mean of h over the neighbours, by the weights of edges where given."""
        edges = cast(EdgeAdjacency, adjacency)
        return mean_around(h[0], edges.edge_index, edges.edge_weight).unsqueeze(0)


def _takes_weights(conv: nn.Module) -> bool:
    return "edge_weight" in inspect.signature(conv.forward).parameters


class HeldModule(Backbone):
    """A module with ``embed``, ``step`` and ``classify`` of its own (see :class:`OwnBackbone`)."""

    def __init__(self, gnn: nn.Module, hidden: int, classes: int) -> None:
        super().__init__()
        missing = [n for n in ("embed", "step", "classify") if not callable(getattr(gnn, n, None))]
        if missing:
            raise SettingsError(
                f"{type(gnn).__name__} is no backbone: it has no method {missing[0]}; give a "
                "BasicGNN, a list of convolutions, or a module with embed, step and classify"
            )
        self.gnn, self.width, self.classes = gnn, hidden, classes

    @property
    def _own(self) -> OwnBackbone:
        return cast(OwnBackbone, self.gnn)

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """Nothing: the module embeds with the edges at hand."""
        raise NotImplementedError("see initial")

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """h^(0). Shape ``[1, n, d]``."""
        edges = cast(EdgeAdjacency, adjacency)
        h0 = self._own.embed(x.dense, edges.edge_index, edges.edge_weight)
        if h0.shape[-1] != self.width:
            raise SettingsError(
                f"PPro: hidden_channels = {self.width}, but embed gives embeddings of width "
                f"{h0.shape[-1]}; make them agree"
            )
        return h0.unsqueeze(0)

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ^(k) and h^(k)."""
        edges = cast(EdgeAdjacency, adjacency)
        pair = self._own.step(k, h[0], h0[0], edges.edge_index, edges.edge_weight)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise SettingsError(
                f"{type(self.gnn).__name__}.step gives {type(pair).__name__}; give a pair: what "
                "the neighbours of each node hold, and its new embedding"
            )
        for part in pair:
            self._check("step", part, h[0].shape)
        return pair[0].unsqueeze(0), pair[1].unsqueeze(0)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """Logits of the given rows."""
        logits = self._own.classify(h[0])
        self._check("classify", logits, torch.Size((h.shape[1], self.classes)))
        return logits.unsqueeze(0)

    def _check(self, method: str, found: Tensor, shape: torch.Size) -> None:
        if getattr(found, "shape", None) != shape:
            what = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise SettingsError(
                f"{type(self.gnn).__name__}.{method} gives {what}, not {tuple(shape)}; all "
                "embeddings have the width hidden_channels, and logits the width out_channels"
            )
