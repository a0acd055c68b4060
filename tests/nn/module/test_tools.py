"""Lightning with TorchMetrics, explainers, and mini-batches as NeighborLoader yields them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import GraphSAGE
from torch_geometric.utils import k_hop_subgraph

from ppro.nn import influence
from tests.nn.module.support import NODES, backward, toy_graph, toy_model, train

BATCH = 8


def batches(data: Data, whole: Tensor, nodes: Tensor, hops: int) -> Iterator[Data]:
    """Batches as NeighborLoader yields them: seed nodes first, then those around them."""
    for seeds in torch.split(nodes, BATCH):
        around, edges, place, _ = k_hop_subgraph(seeds, hops, data.edge_index, relabel_nodes=True)
        first = torch.cat([place, torch.ones(len(around)).index_fill(0, place, 0).nonzero()[:, 0]])
        new = torch.empty_like(first)
        new[first] = torch.arange(len(first))
        n_id = around[first]
        yield Data(
            x=data.x[n_id],
            edge_index=new[edges],
            y=data.y[n_id],
            n_id=n_id,
            batch_size=len(seeds),
            influence=whole[n_id],
        )


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_mini_batches(strategy: str) -> None:
    torch.manual_seed(0)
    x, edges, y = toy_graph()
    y = y.clone()
    y[:BATCH] = -1  # The first batch has no label, the second one class.
    data, whole = Data(x=x, edge_index=edges, y=y), influence(edges, NODES)
    model = toy_model(strategy=strategy, dropout=0.1)
    theta = torch.optim.Adam(model.backbone_parameters(), lr=0.02)
    phi = torch.optim.Adam(model.controller_parameters(), lr=0.01)
    for _ in range(40):
        for batch in batches(data, whole, torch.arange(NODES), hops=2):
            seeds, known = slice(batch.batch_size), {"influence": batch.influence}
            assert torch.equal(batch.x[seeds], x[batch.n_id[seeds]])
            theta.zero_grad()
            logits = model(batch.x, batch.edge_index, **known)
            backward(model.backbone_loss(logits, batch.y, seeds))
            theta.step()
            phi.zero_grad()
            backward(model.controller_loss(batch.x, batch.edge_index, batch.y, seeds, **known))
            phi.step()
    hits = model.eval()(x, edges).argmax(1) == y
    assert float(hits[BATCH:].float().mean()) > 0.8


def test_a_batch_of_all_hops_says_of_its_seeds_what_the_graph_does() -> None:
    x, edges, y = toy_graph()
    data, whole = Data(x=x, edge_index=edges, y=y), influence(edges, NODES)
    model = toy_model("sgc", "none").eval()
    logits = model(x, edges)
    # A node at the rim of a batch has lost neighbours, so the seeds need one hop more than steps.
    for batch in batches(data, whole, torch.arange(NODES), hops=4):
        seeds = slice(batch.batch_size)
        found = model(batch.x, batch.edge_index, influence=batch.influence)[seeds]
        torch.testing.assert_close(found, logits[batch.n_id[seeds]], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("backbone", ["appnp", "gcn", "gat", "sage"])
def test_an_explainer_finds_the_edge_that_matters(backbone: str) -> None:
    torch.manual_seed(0)
    graph = toy_graph()
    gnn, steps = (GraphSAGE(6, 8, 3), None) if backbone == "sage" else (backbone, 2)
    model = toy_model(gnn, num_steps=steps, dropout=0.0)
    train(model, graph, epochs=20)
    explainer = Explainer(
        model,
        algorithm=GNNExplainer(epochs=20),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    explained = explainer(graph[0], graph[1], index=5)
    near = k_hop_subgraph(5, 3, graph[1])[3]
    assert explained.edge_mask.shape == (graph[1].shape[1],)
    assert bool((explained.edge_mask[near] > 0).any())
    assert not bool((explained.edge_mask[~near] > 0).any())
    assert bool((explained.node_mask > 0).any())
    torch.testing.assert_close(model(*graph[:2]), model(*graph[:2]))


def test_features_and_edges_without_the_mask_of_an_explainer() -> None:
    """A mask of ones changes nothing, one of zeros leaves every node alone."""
    from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

    x, edges, _ = toy_graph()
    for backbone in ("appnp", "gat"):
        model = toy_model(backbone, "none").eval()
        expected = model(x, edges)
        set_masks(model, torch.ones(edges.shape[1]), edges, apply_sigmoid=False)
        torch.testing.assert_close(model(x, edges), expected)
        set_masks(model, torch.zeros(edges.shape[1]), edges, apply_sigmoid=False)
        assert not torch.allclose(model(x, edges), expected)
        clear_masks(model)
        torch.testing.assert_close(model(x, edges), expected)
