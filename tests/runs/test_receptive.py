"""Predictions for some nodes are those of a pass over the whole graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from ppro.compute.features import Features
from ppro.compute.propagation import Adjacency
from ppro.data.large import read_large
from ppro.data.large.store import ARRAYS, Meta, write_array, write_meta
from ppro.graph.core import Graph
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Inputs, Network
from ppro.nn.priority import Edges, influence
from ppro.runs import receptive
from ppro.runs.receptive import describe_some, receptive_field
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs
from ppro.training.fit import NodeTable, describe_nodes
from tests.support import CPU, small_settings

NODES, CLASSES, WIDTH = 400, 3, 6
WANTED = torch.tensor([250, 7, 8, 399])


def a_long_graph(*, sparse: bool = False) -> Graph:
    """A path with hubs and chords: far from end to end, with degrees that differ."""
    rng = np.random.default_rng(0)
    path = np.stack([np.arange(NODES - 1), np.arange(1, NODES)])
    start = rng.integers(0, NODES - 12, size=200)
    chords = np.stack([start, start + rng.integers(2, 12, size=200)])
    hubs = np.stack([np.repeat(np.arange(50, NODES, 100), 9), np.tile(np.arange(9), 4)])
    hubs[1] += hubs[0] + 3
    edges = torch.from_numpy(np.concatenate([path, chords, hubs], axis=1))
    features = torch.from_numpy(rng.standard_normal((NODES, WIDTH)).astype(np.float32))
    if sparse:
        features = (features * (features > 0.3)).to_sparse_csr()
    labels = torch.from_numpy(rng.integers(CLASSES, size=NODES))
    return Graph.build("long", edges, features, labels, class_names=["a", "b", "c"])


def settings_of(**changes: object) -> list[Settings]:
    base = {"max_steps": 4, "feature_norm": "none", "propagation_bias": 0.0, **changes}
    return [small_settings(**base, seed=seed) for seed in (0, 1)]


def model_of(chosen: list[Settings]) -> Network:
    """Weights large enough for nodes to differ in their steps."""
    model = build_model(WIDTH, CLASSES, chosen, CPU)
    for name, parameter in model.named_parameters():
        if "head" in name or name.endswith("priority"):
            parameter.data *= 4
        if chosen[0].controllers.teaching == "compare" and "head" in name:
            parameter.data.normal_(generator=torch.Generator().manual_seed(0))
    return model


def some(table: NodeTable, nodes: Tensor) -> list[Tensor]:
    return [table.probabilities[:, nodes], table.steps[:, nodes], table.priorities[:, nodes]]


def assert_same(found: NodeTable, whole: NodeTable, nodes: Tensor, atol: float) -> None:
    for one, other in zip(some(found, torch.arange(len(nodes))), some(whole, nodes), strict=True):
        torch.testing.assert_close(one, other, atol=atol, rtol=0)


LOCAL: list[dict[str, object]] = [
    {"strategy": "l2b", "teaching": "compare", "form": "class"},
    {"strategy": "l2u", "teaching": "compare", "form": "hidden"},
    {"strategy": "l2b", "teaching": "compare", "backbone": "gcn"},
    {"strategy": "l2b", "form": "class"},
    {"strategy": "l2b", "form": "hidden", "normalisation": "row", "use_progress": True},
    {"strategy": "l2u", "form": "class", "self_loops": False},
    {"strategy": "l2u", "form": "hidden", "controller_inputs": "predictions"},
    {"strategy": "l2b", "form": "features", "use_progress": True},
    {"strategy": "l2u", "form": "features", "concat": True},
    {"strategy": "none", "form": "class"},
    {"strategy": "l2b", "backbone": "gcn"},
    {"strategy": "l2u", "backbone": "gat", "hidden": 8, "heads": 2},
    {"strategy": "l2b", "backbone": "gcn-scores"},
    {"strategy": "l2u", "backbone": "gat-scores", "hidden": 8, "heads": 2, "output_heads": 3},
    {"strategy": "l2b", "backbone": "gcnii"},
    {"strategy": "l2b", "backbone": "res-sage", "norm": "batch"},
    {"strategy": "l2b", "backbone": "res-gcn", "linear_first": False, "teaching": "compare"},
    {"strategy": "none", "model": "res-gat", "hidden": 8, "heads": 2},
    {"strategy": "l2b", "backbone": "sgc"},
    {"strategy": "none", "model": "mlp"},
    {"strategy": "none", "model": "gprgnn"},
    {"strategy": "none", "model": "appnp"},
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("changes", LOCAL, ids=lambda changes: "-".join(map(str, changes.values())))
def test_a_cut_predicts_what_the_whole_graph_does(changes: dict[str, object], sparse: bool) -> None:
    graph, chosen = a_long_graph(sparse=sparse), settings_of(**changes)
    model, inputs = model_of(chosen), prepare_inputs(graph, chosen[0], CPU)
    whole = describe_nodes(model, inputs, graph, 2)
    found, seen = describe_some(model, inputs, WANTED)
    assert len(WANTED) <= seen < NODES / 2
    assert_same(found, whole, WANTED, atol=1e-5)


@pytest.mark.parametrize("form", ["class", "features"])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_to_the_last_digit_in_double_precision(strategy: str, form: str) -> None:
    graph, chosen = a_long_graph(), settings_of(strategy=strategy, form=form)
    model = model_of(chosen).double()
    adjacency = Adjacency.build(graph.edge_index, NODES, dtype=torch.float64)
    z = influence(Edges(graph.edge_index, NODES), ("degree", "eigenvector"))
    inputs = Inputs(Features(graph.features.double()), adjacency, z)
    whole = describe_nodes(model, inputs, graph, 2)
    assert len(set(whole.steps.flatten().tolist())) > 2
    assert float(whole.priorities.std()) > 0.01
    for start in (0, 120, 380):
        nodes = torch.arange(start, start + 20)
        found, seen = describe_some(model, inputs, nodes)
        assert seen < NODES / 2
        assert_same(found, whole, nodes, atol=1e-13)


def test_the_scale_of_the_whole_graph_is_what_makes_them_equal() -> None:
    graph, chosen = a_long_graph(), settings_of(strategy="l2b", form="class")
    model, inputs = model_of(chosen), prepare_inputs(graph, chosen[0], CPU)
    field = receptive_field(inputs.adjacency.matrix, WANTED, 4, NODES)
    assert field is not None
    part = receptive.cut(model, inputs, field)
    measure = torch.rand(2, field.shape[0])
    assert not torch.allclose(part.standardised(measure), Inputs.standardised(part, measure))


def folder_of(graph: Graph, folder: Path) -> Path:
    """The graph as the folder of a large one."""
    starts = torch.zeros(NODES + 1, dtype=torch.int64)
    starts[1:] = torch.bincount(graph.edge_index[0], minlength=NODES).cumsum(0)
    arrays = {
        "features.npy": graph.features,
        "indptr.npy": starts,
        "indices.npy": graph.edge_index[1],
        "labels.npy": graph.labels,
    }
    for name, values in arrays.items():
        write_array(folder / name, tuple(values.shape), ARRAYS[name], [values.numpy()])
    entries = graph.edge_index.shape[1]
    sizes = {"nodes": NODES, "entries": entries, "features": WIDTH}
    write_meta(folder, Meta(**sizes, class_names=graph.class_names, bytes={}))  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy": "l2b"},
        {"strategy": "l2b", "form": "features"},
        {"strategy": "none", "model": "mlp"},
    ],
)
def test_features_on_disk_are_read_where_they_are_needed(
    changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, chosen = a_long_graph(), settings_of(**{"form": "class", **changes})
    large, _ = read_large(folder_of(graph, tmp_path))
    model, inputs = model_of(chosen), prepare_inputs(large, chosen[0], CPU)
    whole = describe_nodes(model, inputs, large, 2)
    monkeypatch.setattr(receptive, "GAP", 3)
    found, seen = describe_some(model, inputs, WANTED)
    assert seen < NODES / 2
    assert_same(found, whole, WANTED, atol=1e-5)


def test_a_field_that_is_most_of_the_graph_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, chosen = a_long_graph(), settings_of(strategy="l2b", max_steps=64)
    model, inputs = model_of(chosen), prepare_inputs(graph, chosen[0], CPU)
    found, seen = describe_some(model, inputs, torch.tensor([200]))
    assert seen == NODES
    assert_same(found, describe_nodes(model, inputs, graph, 2), torch.tensor([200]), atol=1e-5)


def test_a_network_that_may_see_further_takes_the_whole_graph() -> None:
    graph, chosen = a_long_graph(), settings_of(strategy="none", model="h2gcn")
    model, inputs = model_of(chosen), prepare_inputs(graph, chosen[0], CPU)
    assert model.reach() is None
    found, seen = describe_some(model, inputs, WANTED)
    assert seen == NODES
    assert_same(found, describe_nodes(model, inputs, graph, 2), WANTED, atol=1e-5)


def test_a_convolution_before_the_steps_is_one_hop_more() -> None:
    plain, gcn = (model_of(settings_of(strategy="l2b", backbone=b)) for b in ("appnp", "gcn"))
    assert isinstance(gcn, PProNetwork)
    assert (plain.reach(), gcn.reach()) == (4, 5)


def test_the_field_grows_hop_by_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receptive, "BLOCK_ROWS", 2)
    path = Graph.build(
        "path",
        torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]),
        torch.ones(7, 1),
        torch.tensor([0, 1, 0, 1, 0, 1, 0]),
    )
    matrix = Adjacency.build(path.edge_index, 7).matrix
    fields = [receptive_field(matrix, torch.tensor([2]), hops, 7) for hops in (0, 1, 2, 9)]
    assert [None if f is None else f.tolist() for f in fields] == [
        [2],
        [1, 2, 3],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4, 5],
    ]
    assert receptive_field(matrix, torch.tensor([2]), 2, 4) is None
    assert receptive_field(matrix, torch.tensor([6]), 5, 1) is not None
