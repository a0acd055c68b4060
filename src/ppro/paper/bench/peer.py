"""The peer: APPNP as a user of PyTorch Geometric writes and trains it."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.features import normalised
from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.nn.backbones.appnp import APPNPSettings
from ppro.settings.settings import Settings


class PeerNet(nn.Module):
    """Two linear layers and ``torch_geometric.nn.APPNP``, in class or hidden dimension."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        super().__init__()
        from torch_geometric.nn import APPNP

        self.lin1 = nn.Linear(graph.num_features, settings.network.hidden)
        self.lin2 = nn.Linear(settings.network.hidden, graph.num_classes)
        own = cast(APPNPSettings, settings.network)
        self.propagate = APPNP(K=own.max_steps, alpha=own.alpha)
        self.dropout, self.hidden_form = settings.training.dropout, own.form == "hidden"

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits of all nodes."""
        h = F.relu(self.lin1(F.dropout(x, self.dropout, self.training)))
        if self.hidden_form:
            h = F.dropout(self.propagate(h, edge_index), self.dropout, self.training)
            return torch.as_tensor(self.lin2(h))
        h = self.lin2(F.dropout(h, self.dropout, self.training))
        return torch.as_tensor(self.propagate(h, edge_index))


class Peer:
    """Training steps and validation of the peer, one call per epoch."""

    def __init__(
        self, graph: Graph, splits: Splits, settings: Settings, device: torch.device
    ) -> None:
        x = normalised(graph.features, settings.inputs.feature_norm)
        dense = x.to_dense() if x.layout == torch.sparse_csr else x
        self.x, self.y = dense.to(device), graph.labels.to(device)
        self.edge_index = graph.edge_index.to(device)
        self.train, self.val = splits.train[0].to(device), splits.val[0].to(device)
        self.net = PeerNet(graph, settings).to(device)
        groups = [
            {"params": self.net.lin1.parameters(), "weight_decay": settings.training.weight_decay},
            {"params": self.net.lin2.parameters(), "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.Adam(groups, lr=settings.training.lr)

    def epoch(self) -> None:
        """One training step and one validation."""
        self.net.train()
        self.optimiser.zero_grad()
        logits = self.net(self.x, self.edge_index)
        F.cross_entropy(logits[self.train], self.y[self.train]).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.net.eval()
        with torch.no_grad():
            guess = self.net(self.x, self.edge_index)[self.val].argmax(-1)
            (guess == self.y[self.val]).float().mean().item()
