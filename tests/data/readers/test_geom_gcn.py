from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ppro.data.readers.geom_gcn import SPLIT_PARTS, read_geom_gcn, read_split_files
from ppro.data.readers.npz import read_npz, read_npz_masks
from ppro.data.readers.raw import RawGraph
from ppro.errors import DataError
from ppro.graph.core import Graph

EDGES = "node_id\tnode_id\n0\t1\n2\t1\n"
NODES = "node_id\tfeature\tlabel\n2\t0,1,0\t1\n0\t1,0,1\t0\n1\t0,0,0\t1\n"


def read(folder: Path, edges: str, nodes: str, indexed: int | None = None) -> RawGraph:
    (folder / "edges.txt").write_text(edges)
    (folder / "nodes.txt").write_text(nodes)
    return read_geom_gcn(folder / "edges.txt", folder / "nodes.txt", indexed_features=indexed)


def test_rows_are_sorted_by_node(tmp_path: Path) -> None:
    graph = read(tmp_path, EDGES, NODES)
    assert graph.features.to_dense().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert graph.labels.tolist() == [0, 1, 1]
    assert graph.edges.tolist() == [[0, 2], [1, 1]]


def test_indexed_features_name_the_nonzero_columns(tmp_path: Path) -> None:
    nodes = "node_id\tfeature\tlabel\n0\t3,1,3\t0\n1\t0\t1\n2\t2\t1\n"
    graph = read(tmp_path, EDGES, nodes, indexed=4)
    assert graph.features.to_dense().tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        (EDGES[:-2], NODES, r"edges\.txt: line 3"),
        (EDGES + "0\tx\n", NODES, r"edges\.txt: line 4"),
        (EDGES + "0\t3\n", NODES, r"edges\.txt: line 4"),
        ("", NODES, r"edges\.txt: line 1"),
        (EDGES, NODES[:-3], r"nodes\.txt: line 4"),
        (EDGES, NODES + "3\t1,1\t0\n", r"nodes\.txt: node 3 has 2 features"),
        (EDGES, NODES + "3\t1,1,a\t0\n", r"nodes\.txt: a feature is not a number"),
        (EDGES, NODES + "2\t1,1,1\t0\n", r"nodes\.txt: its 4 node ids"),
        (EDGES, "<html>\n<body>\n", r"nodes\.txt: line 1"),
        (EDGES, NODES + "3\t\u00e9\t0\n", r"nodes\.txt: byte .* is not ASCII"),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    tmp_path: Path, edges: str, nodes: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, edges, nodes)


@pytest.mark.parametrize("value", ["7", "-1", "x"])
def test_a_feature_index_out_of_range(tmp_path: Path, value: str) -> None:
    with pytest.raises(DataError, match=r"nodes\.txt"):
        read(tmp_path, EDGES, NODES.replace("0,1,0", value), indexed=4)


def test_split_files_become_one_row_each(tmp_path: Path) -> None:
    paths = []
    for run in range(2):
        parts = {
            name: np.eye(3, dtype=np.uint8)[(i + run) % 3] for i, name in enumerate(SPLIT_PARTS)
        }
        np.savez(tmp_path / f"{run}.npz", **parts)
        paths.append(tmp_path / f"{run}.npz")
    masks = read_split_files(paths)
    assert masks.train.tolist() == [[True, False, False], [False, True, False]]
    assert masks.test.tolist() == [[False, False, True], [True, False, False]]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "folder"), [("cornell", "cornell/raw"), ("chameleon", "chameleon/geom_gcn/raw")]
)
def test_text_and_npz_hold_the_same_graph(real_data: Path, name: str, folder: str) -> None:
    texts, npz = real_data / folder, real_data / "heterophilous-graphs" / f"{name}.npz"
    if not (texts / "out1_graph_edges.txt").is_file():
        pytest.skip("the data folder has no rewritten text files")
    one = read_geom_gcn(texts / "out1_graph_edges.txt", texts / "out1_node_feature_label.txt")
    graphs = [Graph.build(name, r.edges, r.features, r.labels) for r in (one, read_npz(npz))]
    assert torch.equal(graphs[0].edge_index, graphs[1].edge_index)
    assert torch.equal(graphs[0].features.to_dense(), graphs[1].features.to_dense())
    assert torch.equal(graphs[0].labels, graphs[1].labels)
    files = read_split_files([texts / f"{name}_split_0.6_0.2_{i}.npz" for i in range(10)])
    masks = read_npz_masks(npz)
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(getattr(files, part), getattr(masks, part))
