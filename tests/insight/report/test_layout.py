from __future__ import annotations

import numpy as np
import pytest

from ppro.data import load_graph
from ppro.insight.report.layout import positions


def test_neighbours_are_near_and_the_same_graph_looks_the_same() -> None:
    graph = load_graph("csbm", options={"nodes": 120, "homophily": 0.9})
    edges = graph.edge_index.numpy()
    found = positions(edges, graph.num_nodes)
    assert np.array_equal(found, positions(edges, graph.num_nodes))
    assert found.min(0).tolist() == [-1, -1]
    assert found.max(0).tolist() == [1, 1]
    joined = np.linalg.norm(found[edges[0]] - found[edges[1]], axis=1).mean()
    rng = np.random.default_rng(0)
    pairs = rng.integers(graph.num_nodes, size=(2, 2000))
    assert joined < 0.8 * np.linalg.norm(found[pairs[0]] - found[pairs[1]], axis=1).mean()


@pytest.mark.parametrize("nodes", [1, 2, 4, 5, 6, 30])
def test_few_nodes_without_an_edge_stand_apart(nodes: int) -> None:
    found = positions(np.zeros((2, 0), dtype=np.int64), nodes)
    assert found.shape == (nodes, 2)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) == nodes
