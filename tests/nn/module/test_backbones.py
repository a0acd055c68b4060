"""Backbones of the user's own: models and convolutions of PyTorch Geometric, modules, classes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric import nn as pyg

from ppro.errors import SettingsError
from ppro.nn.backbones.sgc import SGC
from tests.nn.module.support import CLASSES, FEATURES, NODES, backward, toy_graph, toy_model, train

GIVEN: dict[str, Any] = {"num_steps": None}


class Diffusion(nn.Module):
    """A backbone as a person writes it, knowing nothing of PPro but three methods."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(FEATURES, 8), nn.Linear(8, CLASSES)
        self.conv = pyg.SimpleConv(aggr="mean")

    def embed(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        return F.relu(self.first(F.dropout(x, 0.1, self.training)))

    def step(
        self, k: int, h: Tensor, h0: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        around = self.conv(h, edge_index, edge_weight)
        return around, 0.9 * around + 0.1 * h0

    def classify(self, h: Tensor) -> Tensor:
        logits: Tensor = self.last(h)
        return logits


def convolutions(sizes: tuple[int, ...] = (FEATURES, 8, 8, 8)) -> list[nn.Module]:
    return [pyg.GCNConv(a, b) for a, b in pairwise(sizes)]


OWN: dict[str, Callable[[], Any]] = {
    "BasicGNN": lambda: pyg.GraphSAGE(FEATURES, 8, 3, dropout=0.2),
    "normalised": lambda: pyg.GIN(FEATURES, 8, 3, norm="batch_norm", jk="last"),
    "list": convolutions,
    "ModuleList": lambda: nn.ModuleList(convolutions()),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_models_of_pytorch_geometric_learn(name: str, strategy: str) -> None:
    torch.manual_seed(0)
    model = toy_model(OWN[name](), strategy, dropout=0.1, **GIVEN)
    assert model.num_steps == 2
    assert train(model, toy_graph()) > 0.8


def test_a_model_is_held_and_not_copied() -> None:
    x, edges, y = toy_graph()
    gnn = pyg.GraphSAGE(FEATURES, 8, 3, norm="batch_norm", dropout=0.5)
    model = toy_model(gnn, **GIVEN)
    assert {id(p) for p in gnn.convs.parameters()} <= {id(p) for p in model.backbone_parameters()}
    assert "network.backbone.gnn.convs.0.lin_l.weight" in model.state_dict()
    before = gnn.norms[0].module.running_mean.clone()
    model.eval()(x, edges)
    assert torch.equal(before, gnn.norms[0].module.running_mean)
    model.train()(x, edges)
    assert not torch.equal(before, gnn.norms[0].module.running_mean)
    other = copy.deepcopy(model)
    backward(other.backbone_loss(other(x, edges), y))
    assert all(p.grad is None for p in model.parameters())
    assert any(p.grad is not None for p in other.network.backbone.gnn.parameters())  # type: ignore[union-attr]


def test_the_dropout_of_a_model_is_its_own() -> None:
    x, edges, _ = toy_graph()
    for rate in (0.0, 0.5):
        model = toy_model(pyg.GCN(FEATURES, 8, 3, dropout=rate), "none", dropout=0.0, **GIVEN)
        assert torch.equal(model(x, edges), model(x, edges)) == (rate == 0)


def test_a_module_of_one_s_own() -> None:
    torch.manual_seed(0)
    model = toy_model(Diffusion())
    assert train(model, toy_graph()) > 0.8
    assert "network.backbone.gnn.conv" in dict(model.named_modules())
    x, edges, _ = toy_graph()
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, edges), model(x, edges))


def test_a_class_of_ours() -> None:
    class Sharper(SGC):
        """No name of its own: it is not registered."""

    torch.manual_seed(0)
    assert train(toy_model(Sharper, dropout=0.1), toy_graph()) > 0.8


class Careless(Diffusion):
    """A backbone whose methods give something else than they should."""

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.given = given

    def step(self, k: int, h: Tensor, h0: Tensor, *edges: Any) -> Any:
        return self.given["step"](h) if "step" in self.given else super().step(k, h, h0, *edges)

    def classify(self, h: Tensor) -> Tensor:
        logits: Tensor = self.given["classify"](h) if "classify" in self.given else self.last(h)
        return logits


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"step": lambda h: h}, "Careless.step gives Tensor; give a pair"),
        ({"step": lambda h: (h[:, :4], h)}, r"Careless.step gives \(40, 4\), not \(40, 8\)"),
        ({"step": lambda h: (h, h[:5])}, r"Careless.step gives \(5, 8\), not \(40, 8\)"),
        ({"step": lambda h: (None, h)}, "Careless.step gives NoneType"),
        ({"classify": lambda h: h}, r"Careless.classify gives \(40, 8\), not \(40, 3\)"),
    ],
)
def test_a_module_whose_methods_give_something_else(given: dict[str, Any], told: str) -> None:
    x, edges, _ = toy_graph()
    with pytest.raises(SettingsError, match=told):
        toy_model(Careless(**given))(x, edges)


def test_convolutions_see_the_weights_of_edges() -> None:
    x, edges, _ = toy_graph()
    weight = torch.rand(edges.shape[1]) + 0.5
    model = toy_model(convolutions(), **GIVEN).eval()
    assert not torch.equal(model(x, edges), model(x, edges, weight))
    deaf = toy_model(pyg.GraphSAGE(FEATURES, 8, 3), **GIVEN)
    with pytest.raises(SettingsError, match="take no edge_weight"):
        deaf(x, edges, weight)


@pytest.mark.parametrize(
    ("backbone", "changes", "told"),
    [
        (pyg.GCN(FEATURES, 8, 3), {"num_steps": 5}, "3 convolutions make 2 steps"),
        (pyg.GCN(FEATURES, 16, 3), GIVEN, "hidden_channels = 8.*width 16"),
        (pyg.GCN(FEATURES, 8, 3), {**GIVEN, "alpha": 0.1}, "unknown keyword 'alpha'"),
        (pyg.GCN(FEATURES, 8, 3, CLASSES), GIVEN, "must agree"),
        (pyg.GCN(FEATURES, 8, 3, cached=True), GIVEN, "cached=True.*leave it out"),
        ([pyg.GCNConv(FEATURES, 8), nn.Linear(8, 8)], GIVEN, "layer 1, Linear, is no convolution"),
        ([pyg.GCNConv(FEATURES, 8), pyg.RGCNConv(8, 8, 2)], GIVEN, "layer 1, RGCNConv.*wants more"),
        (["gcn", "gcn"], GIVEN, "'gcn' is no convolution"),
        (pyg.GCNConv, {}, "GCNConv is a class, but no subclass"),
        (pyg.GCNConv(8, 8), {}, "GCNConv is no backbone: it has no method embed"),
        (convolutions((FEATURES, 8)), GIVEN, "at least two"),
        ("gcnn", {}, "gcnn"),
    ],
)
def test_what_is_no_backbone(backbone: Any, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        toy_model(backbone, **changes)


def test_a_module_of_another_width() -> None:
    x, edges, _ = toy_graph()
    model = toy_model(Diffusion(), hidden=9)
    with pytest.raises(SettingsError, match="embed gives embeddings of width 8"):
        model(x, edges)
    assert x.shape[0] == NODES
