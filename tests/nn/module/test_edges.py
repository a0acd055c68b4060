"""Lists of edges: normalised as PyTorch Geometric does it, and what they say of influence."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_dense_adj

from ppro.errors import SettingsError
from ppro.nn import influence
from ppro.nn.module_influence import _kept
from ppro.nn.module_inputs import EdgeAdjacency, WeightedSum
from ppro.nn.priority import Edges
from ppro.nn.priority import influence as of_edges
from ppro.nn.priority.degree import Degree
from ppro.parts import MEASURES
from tests.nn.module.support import NODES, backward, toy_graph, toy_model

DIRECTED = torch.tensor([[0, 1, 2, 2, 3, 1], [1, 2, 0, 2, 3, 3]])


def product(edges: Tensor, weight: Tensor | None, h: Tensor) -> Tensor:
    adjacency = EdgeAdjacency(WeightedSum(), edges, weight, h.shape[0], h.dtype)
    return adjacency.matmul(h.unsqueeze(0))[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_directed_edges_with_loops_are_normalised_as_gcn_norm_does(weighted: bool) -> None:
    weight = torch.rand(6, dtype=torch.float64) + 0.5 if weighted else None
    h = torch.randn(5, 3, dtype=torch.float64)
    edges, values = gcn_norm(DIRECTED, weight, 5, dtype=torch.float64)
    expected = to_dense_adj(edges, edge_attr=values, max_num_nodes=5)[0].T @ h
    torch.testing.assert_close(product(DIRECTED, weight, h), expected)


def test_first_and_second_slopes_are_right() -> None:
    """With weights that learn, messages pass; with others a sparse product does it."""
    h = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(6, dtype=torch.float64) + 0.5
    assert torch.autograd.gradcheck(lambda h: product(DIRECTED, weight, h), h)
    assert torch.autograd.gradgradcheck(lambda h: product(DIRECTED, weight, h), h)
    given = weight.clone().requires_grad_(), h
    assert torch.autograd.gradcheck(lambda w, h: product(DIRECTED, w, h), given)
    torch.testing.assert_close(product(DIRECTED, *given), product(DIRECTED, weight, h))


def test_half_precision_counts_the_neighbours_of_a_hub() -> None:
    leaves = torch.arange(1, 1000)
    star = torch.stack([leaves, torch.zeros_like(leaves)])
    h = torch.ones(1000, 1, dtype=torch.bfloat16)
    exact = product(star, None, h.double())
    assert abs(float(product(star, None, h)[0]) / float(exact[0]) - 1) < 0.01


def test_attention_over_loops_and_directions() -> None:
    x = toy_graph()[0][:5]
    model = toy_model("gat", "none").eval()
    looped = torch.cat([DIRECTED, torch.tensor([[0, 1], [0, 1]])], dim=1)
    torch.testing.assert_close(model(x, looped), model(x, DIRECTED))
    assert not torch.equal(model(x, DIRECTED.flip(0)), model(x, DIRECTED))
    assert torch.isfinite(toy_model("gat", "none", self_loops=False)(x, DIRECTED)).all()


def test_the_mean_of_the_neighbours_knows_no_weights_and_no_loops() -> None:
    x, edges, _ = toy_graph()
    model = toy_model("res-sage").eval()
    loops = torch.arange(NODES).repeat(2, 1)
    usual = model(x, edges)
    torch.testing.assert_close(model(x, edges, torch.rand(edges.shape[1])), usual)
    torch.testing.assert_close(model(x, torch.cat([edges, loops], 1)), usual)


def test_a_node_alone_and_a_graph_without_edges() -> None:
    x, _, y = toy_graph()
    nothing = torch.empty(2, 0, dtype=torch.int64)
    for backbone in ("appnp", "gat", "gcn"):
        model = toy_model(backbone)
        backward(model.backbone_loss(model(x, nothing), y))
        assert torch.isfinite(model.controller_loss(x, nothing, y))
        assert model(x[:1], nothing).shape == (1, 3)


def test_influence_is_that_of_the_undirected_graph() -> None:
    _, edges, _ = toy_graph()
    expected = of_edges(Edges(edges, NODES), ("degree", "eigenvector")).float()
    torch.testing.assert_close(influence(edges, NODES), expected)
    half = edges[:, edges[0] < edges[1]]
    loops = torch.arange(3).expand(2, 3)
    shuffled = torch.cat([half, loops], dim=1)[:, torch.randperm(half.shape[1] + 3)]
    torch.testing.assert_close(influence(shuffled, NODES), expected)
    assert influence(edges, NODES, ("degree", "heterophily")).shape == (NODES, 1)
    assert influence(edges, NODES, ()).shape == (NODES, 0)


def test_a_graph_is_known_by_its_edges() -> None:
    _, edges, _ = toy_graph(7)
    _kept.clear()
    first = influence(edges, NODES)
    assert torch.equal(influence(edges.clone(), NODES), first)
    assert len(_kept) == 1
    first.zero_()
    assert bool((influence(edges, NODES) != 0).any())
    edges[:, 0] = edges[:, 1]
    influence(edges, NODES)
    influence(edges, NODES + 1)
    assert len(_kept) == 3
    for seed in range(20):
        influence(toy_graph(seed)[1], NODES)
    assert len(_kept) == 8


def test_a_measure_that_is_defined_again_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class First(Degree):
        title = "first"

    class Second(Degree):
        title = "second"

        def of_graph(self, edges: Edges) -> Tensor:
            return -super().of_graph(edges)

    _, edges, _ = toy_graph()
    monkeypatch.setitem(MEASURES._parts, "mine", First)
    first = influence(edges, NODES, ["mine"])
    monkeypatch.setitem(MEASURES._parts, "mine", Second)
    torch.testing.assert_close(influence(edges, NODES, ["mine"]), -first)


def test_pytorch_checks_the_operation() -> None:
    torch.library.opcheck(torch.ops.ppro.influence.default, (toy_graph()[1], NODES, "degree"))


def test_influence_of_a_larger_graph_can_be_given() -> None:
    x, edges, _ = toy_graph()
    model = toy_model().eval()
    whole = influence(edges, NODES)
    torch.testing.assert_close(model(x, edges, influence=whole), model(x, edges))
    model(x, edges)
    usual = model.priorities
    model(x, edges, influence=whole + 3)
    assert not torch.allclose(model.priorities, usual)
    with pytest.raises(SettingsError, match=r"shape \(40, 1\), not \(40, 2\)"):
        model(x, edges, influence=whole[:, :1])


def test_measures_of_one_s_choice() -> None:
    x, edges, y = toy_graph()
    for measures in ((), ("heterophily",), ("degree",), ("eigenvector", "heterophily")):
        model = toy_model(measures=measures)
        backward(model.backbone_loss(model(x, edges), y))
        backward(model.controller_loss(x, edges, y))
