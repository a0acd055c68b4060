from __future__ import annotations

import math

import pytest
import torch

from ppro.data import describe, load_graph
from ppro.errors import DataError


def test_digits() -> None:
    graph = load_graph("digits")
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (1797, 64, 10)
    assert float(graph.features.min()) == 0
    assert float(graph.features.max()) == 1
    assert describe(graph)["min_degree"] >= 10


def test_digits_neighbours_set_the_density() -> None:
    sparse, dense = (load_graph("digits", options={"neighbours": k}) for k in (3, 12))
    assert sparse.num_edges < dense.num_edges


def test_csbm_has_the_sizes_asked_for() -> None:
    options = {"nodes": 300, "classes": 3, "features": 7, "degree": 6}
    graph = load_graph("csbm", options=options)
    assert (graph.num_nodes, graph.num_classes, graph.num_features) == (300, 3, 7)
    assert graph.num_edges == pytest.approx(900, rel=0.05)
    assert list(describe(graph)["class_counts"].values()) == [100, 100, 100]


@pytest.mark.parametrize("homophily", [0.0, 0.25, 0.5, 0.8, 1.0])
def test_csbm_homophily_follows_the_dial(homophily: float) -> None:
    graph = load_graph("csbm", options={"nodes": 4000, "homophily": homophily})
    assert describe(graph)["edge_homophily"] == pytest.approx(homophily, abs=0.02)


def test_csbm_signal_moves_the_class_means_apart() -> None:
    def spread(signal: float) -> float:
        graph = load_graph("csbm", options={"signal": signal, "features": 8})
        means = torch.stack([graph.features[graph.labels == c].mean(0) for c in range(4)])
        return float(means.norm(dim=1).mean())

    assert spread(0) < 0.4
    assert spread(5) == pytest.approx(5, rel=0.1)


def test_csbm_is_determined_by_its_seed() -> None:
    one, same, other = (load_graph("csbm", seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.edge_index, same.edge_index)
    assert torch.equal(one.features, same.features)
    assert torch.equal(one.labels, same.labels)
    assert not torch.equal(one.features, other.features)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"homophilly": 0.5}, "did you mean 'homophily'"),
        ({"homophily": 1.5}, "from 0 to 1"),
        ({"homophily": math.nan}, "from 0 to 1"),
        ({"nodes": 10.5}, "a whole number"),
        ({"nodes": 5, "classes": 4}, "two nodes to each class"),
        ({"degree": math.inf}, "from 0 to 1000"),
    ],
)
def test_wrong_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_graph("csbm", options=options)


def test_a_downloaded_graph_takes_no_options() -> None:
    with pytest.raises(DataError, match="cora takes no options, got nodes"):
        load_graph("cora", options={"nodes": 3})
