"""Graphs as tables, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppro.data import make_splits
from ppro.data.files import FileSource, Layout, Reading, file_splits, read_source
from ppro.data.files.export import export_graph
from ppro.data.files.findings import findings
from ppro.graph.core import Graph
from tests.data.files.support import reading

pytest.importorskip("pyarrow")

NODES = 6
numbers = st.floats(-1e6, 1e6, width=32)
graphs = st.builds(
    lambda edges, weights, features, labels, names: Graph.build(
        "g",
        torch.tensor([(0, 1), *edges]).T,
        torch.tensor(features, dtype=torch.float32),
        torch.tensor([0, 1, *labels]),
        edge_weight=torch.tensor(weights[: len(edges) + 1]),
        class_names=["a", "b,c", 'd"'],
        node_ids=names,
    ),
    st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=9),
    st.lists(st.floats(0.125, 1e3, width=32), min_size=10, max_size=10),
    st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=NODES, max_size=NODES),
    st.lists(st.integers(-1, 2), min_size=NODES - 2, max_size=NODES - 2).filter(lambda c: 2 in c),
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1),
        min_size=NODES,
        max_size=NODES,
        unique=True,
    ),
)


def read_back(folder: Path, suffix: str, **layout: object) -> Reading:
    nodes, edges = (str(folder / f"{part}.{suffix}") for part in ("nodes", "edges"))
    return read_source(FileSource(nodes=nodes, edges=edges, layout=Layout.model_validate(layout)))


@settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs, suffix=st.sampled_from(["csv", "parquet"]))
def test_an_exported_graph_reads_as_itself(tmp_path: Path, graph: Graph, suffix: str) -> None:
    export_graph(graph, tmp_path / f"nodes.{suffix}", tmp_path / f"edges.{suffix}")
    found = read_back(tmp_path, suffix, weight="weight", scale="none").graph
    assert found.node_ids == graph.node_ids
    assert found.class_names == graph.class_names
    assert torch.equal(found.labels, graph.labels)
    assert torch.equal(found.edge_index, graph.edge_index)
    assert found.edge_weight is not None
    assert graph.edge_weight is not None
    assert torch.equal(found.edge_weight, graph.edge_weight)
    assert torch.equal(found.features.to_dense(), graph.features)


def test_the_split_comes_along(tmp_path: Path) -> None:
    labels = torch.tensor([0, 1] * 5)
    graph = Graph.build("g", torch.tensor([[0], [1]]), torch.eye(10), labels)
    splits = make_splits(graph, "g", "random-60-20-20", 1, 3)
    export_graph(graph, tmp_path / "nodes.csv", tmp_path / "edges.csv", splits)
    found = read_back(tmp_path, "csv", split_column="part")
    again = file_splits(found, "given", 1, 0)
    for part in ("train", "val", "test"):
        assert torch.equal(getattr(again, part), getattr(splits, part))


def test_findings_say_what_is_odd_and_what_is_done(tmp_path: Path) -> None:
    told = "\n".join(findings(reading(tmp_path)))
    for text in (
        "1 self-loops: dropped",
        "1 edges listed again: merged, the largest weight is kept",
        "1 pairs listed in both directions: one undirected edge each",
        "1 unlabelled nodes: predicted, never trained or scored on",
        "1 components beside the first: nothing propagates between them",
        "2 classes of fewer than 3 labelled nodes (x, y)",
        "column age: 1 missing values become the mean",
        "adjusted homophily -1.00",
    ):
        assert text in told


def test_findings_on_features_and_classes(tmp_path: Path) -> None:
    rows = "".join(f"{k},0,{int(k < 2)},{'a' if k else 'b'}\n" for k in range(12))
    edges = "source,target\n" + "".join(f"{k},{k + 1}\n" for k in range(1, 10))
    found = reading(tmp_path, "id,x,z,topic\n" + rows, edges)
    told = "\n".join(findings(found))
    for text in (
        "2 isolated nodes: predicted from their own features alone",
        "1 constant features: they carry nothing",
        "10 nodes whose features are all zero",
        "10 nodes with the very features of another node",
        "classes of 1 to 11 nodes: compare accuracy with 11 of 12",
    ):
        assert text in told


def test_a_plain_graph_has_nothing_odd(tmp_path: Path) -> None:
    rows = "".join(f"{k},{k},{'ab'[k // 4]}\n" for k in range(8))
    edges = "source,target\n" + "".join(f"{k},{k + 1}\n" for k in range(7))
    assert findings(reading(tmp_path, "id,x,topic\n" + rows, edges)) == []
