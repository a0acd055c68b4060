"""Files damaged at random: they read, or end in a DataError of one line; nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppro.data.files import FileSource, Layout, Reading, read_source, save_graph
from ppro.data.files.export import export_graph
from ppro.errors import DataError
from ppro.graph.core import Graph

nx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

NAMES = (
    *("nodes.csv", "edges.csv", "nodes.parquet", "edges.parquet"),
    *("g.npz", "g.graphml", "g.safetensors"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one graph in every format."""
    folder = tmp_path_factory.mktemp("whole")
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    features = torch.arange(10.0).reshape(5, 2)
    graph = Graph.build("g", edges, features, torch.tensor([0, 1, 0, 1, 0]), node_ids=list("abcde"))
    for suffix in ("csv", "parquet"):
        export_graph(graph, folder / f"nodes.{suffix}", folder / f"edges.{suffix}")
    save_graph(folder / "g.safetensors", graph)
    labels = graph.labels.numpy()
    np.savez_compressed(folder / "g.npz", x=features.numpy(), y=labels, edge_index=edges.numpy())
    network = nx.path_graph(5)
    for node in network:
        network.nodes[node].update(label=str(node % 2), size=float(node))
    nx.write_graphml(network, folder / "g.graphml")
    return folder


@cache
def content(path: Path) -> bytes:
    return path.read_bytes()


def source_of(damaged: Path, whole: Path) -> FileSource:
    if damaged.stem == "g":
        return FileSource(graph=str(damaged), layout=Layout(label="label"))
    other = whole / f"{'edges' if damaged.stem == 'nodes' else 'nodes'}{damaged.suffix}"
    pair = (damaged, other) if damaged.stem == "nodes" else (other, damaged)
    return FileSource(nodes=str(pair[0]), edges=str(pair[1]), layout=Layout(label="label"))


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_file_reads(name: str, whole: Path) -> None:
    assert read_source(source_of(whole / name, whole)).graph.num_edges == 4


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_no_surprise(
    name: str, whole: Path, tmp_path: Path, data: st.DataObject
) -> None:
    raw = bytearray(content(whole / name))
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)) | st.just(len(raw)))
    path = tmp_path / name
    path.write_bytes(bytes(raw[:cut]))
    found = outcome(source_of(path, whole))
    if isinstance(found, str):
        assert "\n" not in found
        assert str(tmp_path) in found or str(whole) in found
    else:
        assert bool(torch.isfinite(found.graph.features.to_dense()).all())


def outcome(source: FileSource) -> Reading | str:
    """What the files hold, or the error that they end in."""
    try:
        return read_source(source)
    except DataError as error:
        return str(error)
