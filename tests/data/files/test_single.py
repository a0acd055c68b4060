"""Files that hold a whole graph: npz, safetensors and GraphML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ppro.data import load_graph, make_splits, save_graph
from ppro.data.files import FileSource, Layout, Reading, file_splits, read_source
from ppro.data.files.export import export_graph
from ppro.data.names import GIVEN
from ppro.errors import DataError
from ppro.graph.core import Graph
from tests.cli.conftest import _REAL_DATA

nx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")


def read(path: Path, **layout: Any) -> Reading:
    return read_source(FileSource(graph=str(path), layout=Layout(**layout)))


def same_graph(a: Graph, b: Graph) -> bool:
    parts = ((a.edge_index, b.edge_index), (a.labels, b.labels))
    dense = (a.features.to_dense(), b.features.to_dense())
    names = a.class_names == b.class_names and a.node_ids == b.node_ids
    return names and all(torch.equal(x, y) for x, y in (*parts, dense))


def test_npz_of_the_heterophilous_layout(tmp_path: Path) -> None:
    masks = np.eye(6, dtype=bool)
    np.savez_compressed(
        tmp_path / "g.npz",
        node_features=np.arange(12.0).reshape(6, 2),
        node_labels=np.array([0, 1, 2, -1, 1, 0]),
        edges=np.array([[0, 1], [1, 0], [2, 2], [4, 5]]),
        train_masks=masks[:2],
        val_masks=masks[4:],
        test_masks=np.zeros((2, 6), dtype=bool),
    )
    found = read(tmp_path / "g.npz")
    assert found.graph.edge_index.tolist() == [[0, 1, 4, 5], [1, 0, 5, 4]]
    assert found.graph.class_names == ("0", "1", "2")
    assert found.schema.num_features == 2
    assert found.splits == (GIVEN, "random-60-20-20")
    splits = file_splits(found, GIVEN, runs=3, seed=0)
    assert splits.train.int().argmax(1).tolist() == [0, 1, 0]
    with pytest.raises(DataError, match="g has no split 'public'; it has given, random-60-20-20"):
        file_splits(found, "public", 1, 0)


def test_npz_with_names(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "g.npz",
        x=np.eye(3, dtype=np.float16),
        y=np.array(["b", "", "a"]),
        edge_index=np.array([[0], [2]], dtype=np.uint8),
        edge_weight=np.array([2.5]),
        node_ids=np.array(["p", "q", "r"]),
    )
    graph = read(tmp_path / "g.npz").graph
    assert graph.class_names == ("a", "b")
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.node_ids == ("p", "q", "r")
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [2.5, 2.5]


@pytest.mark.data
def test_a_published_npz(tmp_path: Path) -> None:
    if not _REAL_DATA:
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
    path = next(Path(_REAL_DATA).rglob("cornell.npz"))
    graph = read(path).graph
    assert same_graph(graph, load_graph("cornell", data_root=Path(_REAL_DATA)))


@pytest.mark.parametrize("sparse", [True, False])
def test_a_saved_graph_is_the_same_graph(tmp_path: Path, sparse: bool) -> None:
    made = load_graph("csbm", options={"nodes": 40, "features": 5})
    features = made.features.to_dense()
    features = (features * (features > 1)).to_sparse_csr() if sparse else features
    ids = [f"n{k}" for k in range(made.num_nodes)]
    graph = Graph.build("g", made.edge_index, features, made.labels, node_ids=ids)
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    save_graph(tmp_path / "g.safetensors", graph, splits)
    found = read(tmp_path / "g.safetensors")
    assert same_graph(found.graph, graph)
    assert torch.equal(file_splits(found, GIVEN, 2, 0).val, splits.val)


@pytest.mark.parametrize("weighted", [True, False])
def test_a_saved_graph_keeps_the_direction_of_its_edges(tmp_path: Path, weighted: bool) -> None:
    edges = torch.tensor([[0, 1, 1, 3], [1, 0, 2, 2]])
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0]) if weighted else None
    labels = torch.tensor([0, 1, 0, 1])
    graph = Graph.build("g", edges, torch.eye(4), labels, edge_weight=weight, directed=True)
    save_graph(tmp_path / "g.safetensors", graph)
    export_graph(graph, tmp_path / "nodes.csv", tmp_path / "edges.csv")
    nodes, edge_list = (str(tmp_path / f"{name}.csv") for name in ("nodes", "edges"))
    tables = read_source(FileSource(nodes=nodes, edges=edge_list))
    for found in (read(tmp_path / "g.safetensors").graph, tables.graph):
        assert torch.equal(found.edge_index, graph.edge_index)
        assert found.arcs is not None
        assert graph.arcs is not None
        assert torch.equal(found.arcs, graph.arcs)


@pytest.mark.parametrize("directed", [True, False])
def test_graphml_says_whether_its_edges_have_a_direction(tmp_path: Path, directed: bool) -> None:
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from((node, {"topic": topic}) for node, topic in zip("abc", "uvu", strict=True))
    for node in graph:
        graph.nodes[node]["size"] = 1.0 + ord(node)
    graph.add_edges_from([("a", "b"), ("b", "a"), ("b", "c")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    found = read(tmp_path / "g.graphml", label="topic")
    assert (found.graph.arcs is not None) == directed
    assert any("a directed graph" in note for note in found.notes) == directed


def test_data_of_pytorch_geometric(tmp_path: Path) -> None:
    data = Data(
        x=torch.eye(4),
        y=torch.tensor([0, 1, 0, 1]),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_attr=torch.tensor([1.0, 3.0]),
        train_mask=torch.tensor([True, True, False, False]),
        val_mask=torch.tensor([False, False, True, False]),
        test_mask=torch.tensor([False, False, False, True]),
    )
    save_graph(str(tmp_path / "g.safetensors"), data)
    found = read(tmp_path / "g.safetensors")
    assert found.graph.edge_weight is not None
    assert found.graph.edge_weight.tolist() == [1, 1, 3, 3]
    assert found.masks is not None
    assert found.masks.train.tolist() == [[True, True, False, False]]
    with pytest.raises(DataError, match="a graph needs edge_index and x"):
        save_graph(tmp_path / "x.safetensors", Data(x=torch.eye(2)))
    assert not (tmp_path / "x.safetensors").exists()


def test_graphml_through_networkx(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    for node, topic, size in (("a", "u", 1.5), ("b", "v", 2.5), ("c", "u", 3.5)):
        graph.add_node(node, topic=topic, size=size)
    graph.add_edges_from([("a", "b", {"w": 2.0}), ("a", "b", {"w": 3.0}), ("b", "a", {"w": 1.0})])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    found = read(tmp_path / "g.graphml", label="topic", weight="w", scale="none")
    assert found.graph.name == "g"
    assert found.graph.node_ids == ("a", "b", "c")
    assert found.graph.labels.tolist() == [0, 1, 0]
    assert found.graph.features.tolist() == [[1.5], [2.5], [3.5]]
    assert found.graph.edge_weight is not None
    assert found.graph.edge_weight.tolist() == [3, 3]
    assert (found.edges.listed, found.edges.duplicates, found.edges.reciprocal) == (3, 1, 1)


def test_a_schema_of_the_other_kind(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", x=np.eye(2), y=np.array([0, 1]), edges=np.array([[0, 1]]))
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "u", 1: "v"}, "topic")
    nx.set_node_attributes(graph, {0: 1, 1: 0}, "x")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    arrays, table = read(tmp_path / "g.npz"), read(tmp_path / "g.graphml", label="topic")
    with pytest.raises(DataError, match=r"trained on columns \(x …\); give tables with --nodes"):
        read_source(FileSource(graph=str(tmp_path / "g.npz")), table.schema)
    with pytest.raises(DataError, match="trained on arrays; give a file of the same kind"):
        read_source(FileSource(graph=str(tmp_path / "g.graphml")), arrays.schema)
    with pytest.raises(DataError, match="trained on arrays without column names"):
        read_source(FileSource(nodes="n.csv", edges="e.csv"), arrays.schema)
    np.savez(tmp_path / "wide.npz", x=np.ones((2, 3)), edges=np.array([[0, 1]]))
    with pytest.raises(DataError, match="3 features per node, but the run was trained with 2"):
        read_source(FileSource(graph=str(tmp_path / "wide.npz")), arrays.schema)


def test_a_new_graph_of_arrays_needs_no_labels(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", x=np.eye(2), y=np.array([0, 1]), edges=np.array([[0, 1]]))
    schema = read(tmp_path / "g.npz").schema
    np.savez(tmp_path / "new.npz", x=np.ones((3, 2)), edges=np.array([[0, 1], [1, 2]]))
    new = read_source(FileSource(graph=str(tmp_path / "new.npz")), schema).graph
    assert new.labels.tolist() == [-1, -1, -1]
    np.savez(
        tmp_path / "odd.npz", x=np.ones((3, 2)), y=np.array([0, 7, 1]), edges=np.array([[0, 1]])
    )
    odd = read_source(FileSource(graph=str(tmp_path / "odd.npz")), schema).graph
    assert odd.labels.tolist() == [0, -1, 1]


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    path.write_bytes(b"one")
    source = FileSource(graph=str(path)).signed()
    assert source.changed() == []
    path.write_bytes(b"two")
    assert source.changed() == [str(path)]
    path.unlink()
    with pytest.raises(DataError, match=r"g.npz: No such file"):
        source.changed()
