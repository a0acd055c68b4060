"""A small graph with classes that can be learned, and modules for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ppro.nn import PPro
from tests.support import both_directions

NODES, FEATURES, CLASSES = 40, 6, 3
SCORES = ("gat-scores", "gcn-scores")
RESIDUAL = ("res-gat", "res-gcn", "res-sage")
BUILT_IN = ("appnp", "gat", "gcn", "gcnii", "grand", "sgc", *SCORES, *RESIDUAL)


def toy_graph(seed: int = 0, nodes: int = NODES) -> tuple[Tensor, Tensor, Tensor]:
    """Features ``[n, f]``, edges ``[2, E]`` and labels ``[n]``.

    Features tell of the label, and most neighbours share it.
    """
    rng = torch.Generator().manual_seed(seed)
    y = torch.arange(nodes) * CLASSES // nodes
    x = torch.randn(nodes, FEATURES, generator=rng)
    x[torch.arange(nodes), y] += 3
    strangers = torch.randint(nodes, (nodes // 8, 2), generator=rng).tolist()
    ring = [(i, i + step) for step in (1, 2) for i in range(nodes - step)]
    return x, both_directions([*ring, *map(tuple, strangers)]), y


def toy_model(backbone: Any = "appnp", strategy: str = "l2b", **keywords: Any) -> PPro:
    """A module for the toy graph, whose nodes start at different steps."""
    sizes = FEATURES, keywords.pop("hidden", 8), CLASSES
    keywords = {"num_steps": 3, "propagation_bias": 0.0, **keywords}
    if backbone == "gat":
        keywords.setdefault("heads", 2)
    return PPro(*sizes, backbone=backbone, strategy=strategy, **keywords)


def backward(loss: Tensor) -> None:
    """Add the gradient of a loss to those of its parameters."""
    loss.backward()  # type: ignore[no-untyped-call]


def train(model: PPro, graph: tuple[Tensor, Tensor, Tensor], epochs: int = 60) -> float:
    """Algorithm 1; returns the accuracy on the graph."""
    x, edges, y = graph
    theta = torch.optim.Adam(model.backbone_parameters(), lr=0.02)
    phi = torch.optim.Adam(model.controller_parameters(), lr=0.01)
    model.train()
    for _ in range(epochs):
        theta.zero_grad()
        backward(model.backbone_loss(model(x, edges), y))
        theta.step()
        phi.zero_grad()
        backward(model.controller_loss(x, edges, y))
        phi.step()
    model.eval()
    with torch.no_grad():
        return float((model(x, edges).argmax(1) == y).float().mean())
