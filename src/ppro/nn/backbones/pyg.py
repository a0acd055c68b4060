"""Any BasicGNN of PyTorch Geometric, or any list of convolutions, as a backbone."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch_geometric.nn.inits import reset
from torch_geometric.nn.models.basic_gnn import BasicGNN

from ppro.compute.features import FEATURE_SITE, Features
from ppro.compute.layers import RunLinear
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import row_indices
from ppro.errors import SettingsError
from ppro.nn.backbones.base import HIDDEN_SITE, Backbone, dropout

Convolutions = nn.Module | Sequence[nn.Module]
"""A BasicGNN (GCN, GraphSAGE, GIN, GAT, PNA, EdgeCNN ...), or convolutions ``conv(x, edges)``."""


class Convolving(Backbone):
    """The convolutions of a PyTorch Geometric model, one per step.

    h0 = act(norm_0(conv_0(drop(X)))); ĥ_k = conv_k(drop(h_{k-1})) and h_k = act(norm_k(ĥ_k));
    ŷ = softmax(drop(h̃) W + b), in place of the model's own last layer where jk="last" gave it one.
    A list of convolutions has act = ReLU and no norm.
    """

    capturable = False
    output: RunLinear

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """drop(X), which the first convolution takes. Shape ``[R, n, f]``."""
        dropped = self.dropout_all(x.dense.unsqueeze(0), noise, FEATURE_SITE)
        return dropped.expand(self.output.weight.shape[0], -1, -1)

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """h0: the first convolution, normalised and activated."""
        return self.convolve(0, self.embed(x, noise), adjacency)[1]

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = conv_k(drop(h)), and it normalised and activated."""
        return self.convolve(k, self.dropout_step(h, noise, k), adjacency)

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return the mean of h0 over the neighbours: no convolution shows what it adds up."""
        return self.mean_around(h0, adjacency)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """drop(h) W + b."""
        logits: Tensor = self.output(dropout(h, rows, noise, HIDDEN_SITE))
        return logits

    @abstractmethod
    def convolve(self, k: int, h: Tensor, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return conv_k(h), and it normalised and activated. Shapes ``[R, n, d]``."""

    @abstractmethod
    def mean_around(self, h: Tensor, adjacency: Adjacency) -> Tensor:
        """Return the mean of h over the neighbours of each node. Shape ``[R, n, d]``."""


class Adapted(Convolving):
    """Copies of the convolutions, with the parameters of every run.

    The given modules are copied, never changed. Each run's parameters start from the layers' own
    ``reset_parameters`` under its seed and are kept stacked, run first, as in every backbone; the
    layers are called run by run. Dropout is that of the settings; the layers' own is off. Edge
    dropout takes edges away. The convolutions get the edges of the graph without self-loops and
    without weights, and add or normalise what they need: ``hidden``, ``alpha``, ``normalisation``
    and ``self_loops`` of the settings play no part.

    Args:
        gnn: the model or the convolutions, at least two.
    """

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        num_features: int,
        num_classes: int,
        gnn: Convolutions,
    ) -> None:
        super().__init__()
        # A tuple hides them from nn.Module: what trains are the stacked copies in ``weights``.
        self._layers = tuple(copy.deepcopy(layer).eval() for layer in layers_of(gnn))
        for layer in self._layers:
            _check_stateless(layer)
        self.width = common_width(self._layers, num_features)
        self.weights = nn.ModuleList(_stacked(layer, rngs) for layer in self._layers)
        self.output = RunLinear(rngs, self.width, num_classes)
        self._edges: tuple[Tensor, Tensor, Tensor] | None = None

    def decayed(self) -> list[nn.Parameter]:
        """Return the first convolution."""
        return list(self.weights[0].parameters())

    def convolve(self, k: int, h: Tensor, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return conv_k(h), and it normalised and activated, run by run."""
        pairs = []
        for run, h_run in enumerate(h):
            stacks = self.weights[k].named_parameters()
            weights = {name.replace("/", "."): stack[run] for name, stack in stacks}
            inputs = h_run, self._edges_of(run, adjacency)
            pairs.append(functional_call(self._layers[k], weights, inputs))
        aggregates, updated = zip(*pairs, strict=True)
        return torch.stack(aggregates), torch.stack(updated)

    def mean_around(self, h: Tensor, adjacency: Adjacency) -> Tensor:
        """Return the mean of h over the neighbours that a run's dropout leaves."""
        means = [mean_around(rows, self._edges_of(run, adjacency)) for run, rows in enumerate(h)]
        return torch.stack(means)

    def _edges_of(self, run: int, adjacency: Adjacency) -> Tensor:
        """Source and target of the edges that a run's dropout leaves. Shape ``[2, E]``."""
        if self._edges is None or self._edges[0] is not adjacency.matrix:
            rows, columns = row_indices(adjacency.matrix), adjacency.matrix.col_indices().long()
            apart = (rows != columns).nonzero().squeeze(1)
            self._edges = adjacency.matrix, apart, torch.stack([columns[apart], rows[apart]])
        _, apart, edges = self._edges
        return edges if adjacency.values is None else edges[:, adjacency.values[run, apart] != 0]

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Adapted:
        """Move the buffers of the layers along."""
        for layer in self._layers:
            layer._apply(fn, recurse)  # type: ignore[no-untyped-call]
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self


class Layer(nn.Module):
    """A convolution and what follows it: its output before and after."""

    def __init__(self, conv: nn.Module, *after: nn.Module) -> None:
        super().__init__()
        self.conv, self.after = conv, nn.Sequential(*after)

    def forward(
        self, h: Tensor, edges: Tensor, weight: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Convolve, with the weights of the edges where they are given."""
        weights = {} if weight is None else {"edge_weight": weight}
        aggregate = self.conv(h, edges, **weights)
        return aggregate, self.after(aggregate)


def mean_around(h: Tensor, edges: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return the mean of h over the neighbours of each node; that of a lonely one is its own h.

    Args:
        h: Shape ``[n, d]``.
        edges: sources and targets; self-loops do not count. Shape ``[2, E]``.
        weight: of the edges, by its absolute value; None for 1. Shape ``[E]``.
    """
    source, target = edges
    # Half precision could not count the neighbours of a node of high degree.
    h = h.to(torch.promote_types(h.dtype, torch.float32))
    share = (source != target).to(h.dtype)
    share = share if weight is None else share * weight.abs()
    total = h.new_zeros(h.shape[0]).index_add(0, target, share).unsqueeze(1)
    added = torch.zeros_like(h).index_add(0, target, share.unsqueeze(1) * h[source])
    return torch.where(total > 0, added / torch.where(total > 0, total, 1.0), h)


def number_of_steps(gnn: Convolutions) -> int:
    """L: every convolution but the first, which gives h0, is a step."""
    return len(_convolutions(gnn)) - 1


def _convolutions(gnn: Convolutions) -> list[nn.Module]:
    if isinstance(gnn, BasicGNN):
        convs = list(gnn.convs)
    elif isinstance(gnn, Sequence | nn.ModuleList):
        convs = list(gnn)
    else:
        raise SettingsError(
            f"{type(gnn).__name__} is not a BasicGNN of PyTorch Geometric; give its convolutions "
            "as a list, or write a Backbone"
        )
    if strange := [conv for conv in convs if not isinstance(conv, nn.Module)]:
        raise SettingsError(
            f"{strange[0]!r} is no convolution; give modules, such as GCNConv(f, d), or a backbone "
            "by its name alone"
        )
    if len(convs) < 2:
        raise SettingsError(
            f"{len(convs)} convolution leaves no step: the first one gives h0; give at least two"
        )
    return convs


def layers_of(gnn: Convolutions) -> list[Layer]:
    """Return the convolutions, each with its norm and activation."""
    convs = _convolutions(gnn)
    after: list[tuple[nn.Module, ...]] = [(nn.ReLU(),)] * len(convs)
    if isinstance(gnn, BasicGNN):
        if gnn.jk_mode not in (None, "last"):
            raise SettingsError(
                f"jk={gnn.jk_mode!r} joins all steps, but PPro chooses one; leave jk out"
            )
        act = gnn.act if isinstance(gnn.act, nn.Module) else _Activation(gnn.act)
        after = [(act, norm) if gnn.act_first else (norm, act) for norm in gnn.norms]
    return [Layer(conv, *then) for conv, then in zip(convs, after, strict=True)]


class _Activation(nn.Module):
    """A function as a module; None for the identity."""

    def __init__(self, function: Callable[[Tensor], Tensor] | None) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return x if self.function is None else self.function(x)


def _check_stateless(layer: Layer) -> None:
    """A layer serves several runs, so it must not follow one of them."""
    if any(name.endswith("running_mean") for name, _ in layer.named_buffers()):
        raise SettingsError(
            "a norm that keeps running statistics cannot serve several runs; "
            "use norm='layer_norm', or norm_kwargs={'track_running_stats': False}"
        )


@torch.no_grad()
def common_width(layers: Sequence[Layer], num_features: int) -> int:
    """The width of all embeddings, found out on two nodes; lazy layers get their sizes here.

    Raises:
        SettingsError: a layer takes other inputs, or would go on with the edges of these nodes.
    """
    if any(getattr(module, "cached", False) for layer in layers for module in layer.modules()):
        raise SettingsError("cached=True keeps the edges of one call for all others; leave it out")
    device = next((p.device for layer in layers for p in layer.parameters()), None)
    h = torch.zeros(2, num_features, device=device)
    edges, widths = torch.tensor([[0, 1], [1, 0]], device=device), []
    for k, layer in enumerate(layers):
        try:
            h = layer(h, edges)[0]
        except (TypeError, AssertionError) as error:
            raise SettingsError(
                f"layer {k}, {type(layer.conv).__name__}, is no convolution of x and edge_index "
                f"alone ({str(error) or 'it wants more'}); choose another, or write a Backbone"
            ) from None
        except (RuntimeError, ValueError) as error:
            raise SettingsError(
                f"convolution {k} does not take {h.shape[1]} features ({error}); "
                "give the first one the graph's number of features, the others the hidden width"
            ) from None
        widths.append(int(h.shape[1]))
    if len(set(widths)) > 1:
        raise SettingsError(
            f"the convolutions give embeddings of widths {widths}, but a node may stop at any of "
            "them, so they must agree; leave out_channels out: PPro adds the layer that classifies"
        )
    return widths[0]


def _stacked(layer: Layer, rngs: Sequence[torch.Generator]) -> nn.ParameterDict:
    """Initial parameters of every run, the run first; '/' for '.', which names may not have."""
    starts: list[dict[str, Tensor]] = []
    for rng in rngs:
        seed = int(torch.randint(2**31, (), generator=rng))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            reset(layer)
        starts.append({name: p.detach().clone() for name, p in layer.named_parameters()})
    stacks = {name: torch.stack([start[name] for start in starts]) for name in starts[0]}
    return nn.ParameterDict({name.replace(".", "/"): nn.Parameter(p) for name, p in stacks.items()})
