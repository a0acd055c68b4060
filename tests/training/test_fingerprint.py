from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch_geometric.nn import GraphSAGE, SAGEConv

from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.nn.backbones.appnp import APPNP
from ppro.nn.backbones.gcn import GCN
from ppro.settings.settings import Settings
from ppro.training.fingerprint import Fingerprint, differing, fingerprint

GRAPH = load_graph("csbm", options={"nodes": 30, "classes": 2, "features": 4})
SPLITS = make_splits(GRAPH, "csbm", "random-60-20-20", 2, 0)


def of(graph: Graph = GRAPH, splits: Splits = SPLITS, **changes: Any) -> Fingerprint:
    backbone, weight = changes.pop("backbone", None), changes.pop("class_weight", None)
    runs = [Settings(seed=seed).replace(**changes) for seed in range(2)]
    return fingerprint(graph, splits, runs, backbone, weight)


def test_the_same_training_has_the_same_fingerprint() -> None:
    again = load_graph("csbm", options={"nodes": 30, "classes": 2, "features": 4})
    assert of() == of(again)
    assert of(backbone=GraphSAGE(4, 4, 2)) == of(backbone=GraphSAGE(4, 4, 2))


GRAPHS = {
    "edges": replace(GRAPH, edge_index=GRAPH.edge_index[:, 2:]),
    "weights": replace(GRAPH, edge_weight=torch.ones(GRAPH.edge_index.shape[1])),
    "features": replace(GRAPH, features=GRAPH.features.to_dense() * 2),
    "sparse": replace(GRAPH, features=GRAPH.features.to_dense().to_sparse_csr()),
    "labels": replace(GRAPH, labels=1 - GRAPH.labels),
    "names": replace(GRAPH, class_names=("a", "b")),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_part_of_the_graph_counts(name: str) -> None:
    assert differing(of(), of(GRAPHS[name])) == "graph"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"lr": 0.5}, "lr"),
        ({"epochs": 3, "dropout": 0.1}, "dropout, epochs"),
        ({"backbone": APPNP}, "backbone"),
        ({"backbone": GraphSAGE(4, 4, 2)}, "backbone"),
        ({"class_weight": torch.ones(2, 2)}, "class weights"),
        ({"class_weight": torch.ones(2, 2), "lr": 0.5}, "class weights, lr"),
    ],
)
def test_what_differs_is_named(changes: dict[str, Any], told: str) -> None:
    assert differing(of(), of(**changes)) == told


def test_backbones_of_ones_own_differ() -> None:
    kinds: list[Any] = [
        *(APPNP, GCN, GraphSAGE(4, 4, 2), GraphSAGE(4, 8, 2)),
        [SAGEConv(4, 4), SAGEConv(4, 4)],
    ]
    assert len({of(backbone=kind)["backbone"] for kind in kinds}) == len(kinds)


def test_other_splits_and_other_runs() -> None:
    other = make_splits(GRAPH, "csbm", "random-60-20-20", 2, 5)
    assert differing(of(), of(splits=other)) == "splits"
    fewer = {**of(), "settings": of()["settings"].splitlines()[0]}
    assert differing(of(), fewer) == "number of runs"
