"""Networks as a user of PyTorch Geometric writes them, on its own layers.

A network is a first layer over X and the rest, apart from each other: X may be sparse, which
``torch.compile`` does not take, and the rest is what there is to compile.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.settings.settings import Settings


def dropped(x: Tensor, rate: float, training: bool) -> Tensor:
    """Return dropout(X); of a sparse matrix the stored values alone are drawn."""
    if x.layout != torch.sparse_csr:
        return F.dropout(x, rate, training)
    values = F.dropout(x.values(), rate, training)
    return torch.sparse_csr_tensor(
        x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False
    )


class FirstLinear(nn.Linear):
    """A linear layer over features that may be sparse."""

    has_bias = True

    def without_bias(self) -> None:
        """Leave the bias to a layer that follows."""
        self.has_bias = False
        self.register_parameter("bias", None)

    def forward(self, x: Tensor) -> Tensor:
        """X W + b."""
        if x.layout != torch.sparse_csr:
            return super().forward(x)
        product: Tensor = torch.sparse.mm(x, self.weight.t())
        return product + self.bias if self.has_bias else product


class PeerNet(nn.Module):
    """A network of PyTorch Geometric.

    Args:
        sizes: number of features and of classes.
        cached: whether its layers normalise the graph once, not in every pass.
    """

    drops_features = True

    def __init__(self, sizes: tuple[int, int], settings: Settings, cached: bool) -> None:
        super().__init__()
        self.own: Any = settings.network
        self.rate, self.cached = settings.training.dropout, cached
        self.first = FirstLinear(sizes[0], self.own.hidden)
        self.build(sizes[1])
        self.rest: Callable[[Tensor, Tensor], Tensor] = self.after

    def build(self, classes: int) -> None:
        """Make the layers that follow the first."""
        raise NotImplementedError

    def after(self, h: Tensor, graph: Tensor) -> Tensor:
        """Logits of all nodes from what the first layer gave."""
        raise NotImplementedError

    def compile_rest(self) -> None:
        """Compile all but the first layer."""
        self.rest = torch.compile(self.after)

    def drop(self, h: Tensor) -> Tensor:
        """Return dropout(h)."""
        return F.dropout(h, self.rate, self.training)

    def forward(self, x: Tensor, graph: Tensor) -> Tensor:
        """Logits of all nodes."""
        rate = self.rate if self.drops_features else 0.0
        return self.rest(self.first(dropped(x, rate, self.training)), graph)


class PeerAPPNP(PeerNet):
    """Two linear layers and ``torch_geometric.nn.APPNP``, in class or hidden dimension."""

    def build(self, classes: int) -> None:
        """Make the second layer and the propagation."""
        from torch_geometric.nn import APPNP

        self.last = nn.Linear(self.own.hidden, classes)
        self.propagate = APPNP(K=self.own.max_steps, alpha=self.own.alpha, cached=self.cached)

    def after(self, h: Tensor, graph: Tensor) -> Tensor:
        """Propagate, then classify; in class dimension the other way round."""
        h = F.relu(h)
        if self.own.form == "hidden":
            return torch.as_tensor(self.last(self.drop(self.propagate(h, graph))))
        return torch.as_tensor(self.propagate(self.last(self.drop(h)), graph))


class PeerGCN(PeerNet):
    """``GCNConv`` layers; the first one's linear map is the network's first layer."""

    def build(self, classes: int) -> None:
        """Make the convolutions."""
        from torch_geometric.nn import GCNConv

        hidden, depth = self.own.hidden, self.own.max_steps
        widths = [hidden] * (depth - 1) + [classes]
        self.convolutions = nn.ModuleList(
            GCNConv(hidden, width, cached=self.cached) for width in widths
        )
        self.first.without_bias()
        self.convolutions[0].lin = nn.Identity()

    def after(self, h: Tensor, graph: Tensor) -> Tensor:
        """Convolve as often as there are layers."""
        for k, layer in enumerate(self.convolutions):
            h = layer(h if k == 0 else self.drop(F.relu(h)), graph)
        return h


class PeerGCNII(PeerNet):
    """``GCN2Conv`` layers between two linear ones."""

    def build(self, classes: int) -> None:
        """Make the layers of the steps and the last."""
        from torch_geometric.nn import GCN2Conv

        own = self.own
        self.steps = nn.ModuleList(
            GCN2Conv(own.hidden, own.alpha, own.gcnii_lambda, k, cached=self.cached)
            for k in range(1, own.max_steps + 1)
        )
        self.last = nn.Linear(own.hidden, classes)

    def after(self, h: Tensor, graph: Tensor) -> Tensor:
        """Take all steps, then classify."""
        h = h0 = F.relu(h)
        for layer in self.steps:
            h = F.relu(layer(self.drop(h), h0, graph))
        return torch.as_tensor(self.last(self.drop(h)))


class PeerResGCN(PeerNet):
    """``GCNConv`` with layer normalisation and a linear way past each layer."""

    drops_features = False

    def build(self, classes: int) -> None:
        """Make the layers of the steps and the last."""
        from torch_geometric.nn import GCNConv

        hidden, depth = self.own.hidden, self.own.max_steps
        self.convolutions = nn.ModuleList(
            GCNConv(hidden, hidden, cached=self.cached) for _ in range(depth)
        )
        self.past = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(depth))
        self.last = nn.Linear(hidden, classes)

    def after(self, h: Tensor, graph: Tensor) -> Tensor:
        """Take all steps, then classify."""
        for layer, past, norm in zip(self.convolutions, self.past, self.norms, strict=True):
            h = self.drop(h)
            h = F.relu(norm(layer(h, graph) + past(h)))
        return torch.as_tensor(self.last(self.drop(h)))


NETS: dict[str, type[PeerNet]] = {
    "ppro": PeerAPPNP,
    "gcn": PeerGCN,
    "gcnii": PeerGCNII,
    "res-gcn": PeerResGCN,
}
"""The peer of each model; that of PPro is its backbone alone."""


def csr_of(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the graph as a CSR matrix; PyTorch Geometric adds loops and normalises it."""
    ones = torch.ones(edge_index.shape[1], device=edge_index.device)
    with warnings.catch_warnings():
        # Sparse invariant checks are implicitly disabled, and CSR is in beta state.
        warnings.simplefilter("ignore", UserWarning)
        matrix = torch.sparse_coo_tensor(edge_index, ones, (num_nodes, num_nodes))
        return matrix.coalesce().to_sparse_csr()
