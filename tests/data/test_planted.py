from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ppro.data import DATASETS, deep_nodes, describe, load_graph, make_splits
from ppro.data.generated.planted import DEGREE, FEATURES, NEIGHBOURHOOD
from ppro.errors import DataError
from ppro.graph.core import Graph

seeds = st.integers(0, 2**32)


def planted(seed: int = 0, **options: float | str) -> tuple[Graph, NDArray[np.bool_]]:
    return load_graph("planted", options=options, seed=seed), deep_nodes(seed, options)


def pairs(graph: Graph) -> NDArray[np.int64]:
    found: NDArray[np.int64] = graph.edge_index.numpy()
    return found


def degrees(graph: Graph) -> NDArray[np.int64]:
    return np.bincount(pairs(graph)[0], minlength=graph.num_nodes)


def same_class(graph: Graph, edges: NDArray[np.int64]) -> float:
    labels = graph.labels.numpy()
    return float((labels[edges[0]] == labels[edges[1]]).mean())


def told_by(score: NDArray[Any], deep: NDArray[np.bool_]) -> float:
    """How many types a threshold on one number tells at best."""
    order = np.argsort(score, kind="stable")
    right = np.cumsum(np.where(deep[order], -1, 1)) + deep.sum()
    best = max(right.max(), deep.size - right.min())
    return float(best / deep.size)


def class_by_features(graph: Graph, nodes: NDArray[np.bool_]) -> float:
    """How often the nearest mean of a class, of other nodes, is that of the node's own class."""
    features, labels = graph.features.numpy(), graph.labels.numpy()
    half = np.arange(labels.size) % 2 == 0
    classes = range(graph.num_classes)
    means = np.stack([features[half & nodes & (labels == c)].mean(0) for c in classes])
    rows = ~half & nodes
    nearest = ((features[rows][:, None] - means) ** 2).sum(2).argmin(1)
    return float((nearest == labels[rows]).mean())


def class_by_neighbours(graph: Graph, nodes: NDArray[np.bool_]) -> float:
    """How often most neighbours are of the node's own class."""
    source, target = pairs(graph)
    votes = np.zeros((graph.num_nodes, graph.num_classes))
    np.add.at(votes, (source, graph.labels.numpy()[target]), 1)
    return float((votes.argmax(1) == graph.labels.numpy())[nodes].mean())


def test_the_defaults_are_the_point_of_the_experiments() -> None:
    graph, deep = planted()
    assert (graph.num_nodes, graph.num_classes, graph.num_features) == (3000, 5, 32)
    assert deep.sum() == 1500
    kind = graph.features[:, 0].numpy()
    for nodes, centre in ((deep, 1.5), (~deep, -1.5)):
        assert kind[nodes].mean() == pytest.approx(centre, abs=0.05)
        assert kind[nodes].std() == pytest.approx(0.3, abs=0.03)
    rest, labels = graph.features[:, 1:].numpy(), graph.labels.numpy()
    for nodes, noise in ((deep, 1.6), (~deep, 0.35)):
        found = np.concatenate(
            [rest[nodes & (labels == c)] - rest[~deep & (labels == c)].mean(0) for c in range(5)]
        )
        assert found.std() == pytest.approx(noise, rel=0.02)
    # Four drawn by each node, merged where they meet.
    assert graph.num_edges == pytest.approx(4 * 3000, rel=0.01)


@settings(deadline=None, max_examples=12)
@given(st.floats(0.2, 0.8), st.floats(0.2, 1), st.sampled_from([0, 1, 2]), seeds)
def test_share_and_homophily_are_as_dialled(
    share: float, homophily: float, show: int, seed: int
) -> None:
    graph, deep = planted(seed, nodes=2000, share=share, homophily=homophily, show=show)
    assert deep.sum() == round(share * 2000)
    edges = pairs(graph)
    inside = edges[:, deep[edges].all(0)]
    assert same_class(graph, inside) == pytest.approx(homophily, abs=0.06)
    others = edges[:, ~deep[edges].all(0)]
    assert same_class(graph, others) == pytest.approx(0.2, abs=0.06)


@settings(deadline=None, max_examples=8)
@given(st.sampled_from([0, 1, 2]), seeds)
def test_a_seed_gives_the_same_graph_and_the_same_types(show: int, seed: int) -> None:
    (one, deep), (two, again) = (planted(seed, nodes=300, show=show) for _ in range(2))
    assert torch.equal(one.edge_index, two.edge_index)
    assert torch.equal(one.features, two.features)
    np.testing.assert_array_equal(deep, again)
    assert not np.array_equal(deep, deep_nodes(seed + 1, {"nodes": 300}))


@pytest.mark.parametrize("show", ["features", "degree", "neighbourhood"])
@pytest.mark.parametrize("seed", [0, 7])
def test_deep_nodes_are_told_by_neighbours_and_shallow_ones_by_features(
    show: str, seed: int
) -> None:
    graph, deep = planted(seed, show=show)
    assert class_by_features(graph, ~deep) > 0.97
    assert class_by_features(graph, deep) < 0.75
    assert class_by_neighbours(graph, deep) > 0.85
    assert class_by_neighbours(graph, ~deep) < 0.5


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_the_type_is_shown_by_what_the_dial_says_and_by_nothing_else(
    share: float, seed: int
) -> None:
    tells = {}
    for show in (FEATURES, DEGREE, NEIGHBOURHOOD):
        graph, deep = planted(seed, share=share, show=show)
        features, labels = graph.features.numpy(), graph.labels.numpy()
        agreed = np.zeros(graph.num_nodes)
        source, target = pairs(graph)
        np.add.at(agreed, source, labels[source] == labels[target])
        tells[show] = [
            told_by(features[:, 0], deep),
            told_by(np.linalg.norm(features, axis=1), deep),
            told_by(degrees(graph), deep),
            told_by(agreed / np.maximum(degrees(graph), 1), deep),
        ]
    blind = max(share, 1 - share)
    assert tells[FEATURES][0] > 0.99
    assert tells[DEGREE][2] > 0.95
    assert max(tells[DEGREE][:2]) < blind + 0.05
    assert tells[NEIGHBOURHOOD][3] > 0.9
    assert max(tells[NEIGHBOURHOOD][:3]) < blind + 0.06


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("show", [0, 1, 2])
def test_one_type_alone(share: float, show: int) -> None:
    graph, deep = planted(share=share, show=show, nodes=400)
    assert deep.all() == bool(share)
    assert describe(graph)["edge_homophily"] == pytest.approx(0.8 if share else 0.2, abs=0.06)


@pytest.mark.parametrize("features", [8, 128])
def test_the_width_of_the_features_does_not_change_what_they_tell(features: int) -> None:
    graph, deep = planted(features=features, nodes=4000)
    centres = [graph.features[~torch.from_numpy(deep) & (graph.labels == c)] for c in range(5)]
    norms = torch.stack([rows[:, 1:].mean(0) for rows in centres]).norm(dim=1)
    assert float(norms.mean()) == pytest.approx(2, rel=0.35)


def test_a_word_is_as_good_as_its_number() -> None:
    word, number = (planted(show=value, nodes=200)[0] for value in ("degree", 1))
    assert torch.equal(word.edge_index, number.edge_index)
    told = "planted: show is colour, expected one of features, degree, neighbourhood"
    with pytest.raises(DataError, match=told):
        load_graph("planted", options={"show": "colour"})
    with pytest.raises(DataError, match="show is 3, expected one of"):
        load_graph("planted", options={"show": 3})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"nodes": 90}, "planted: 90 nodes for 5 classes; give each class at least 20"),
        ({"degree": 1, "show": "degree"}, "a degree of 1 shows nothing; give at least 2"),
    ],
)
def test_too_little_to_plant(options: dict[str, float | str], told: str) -> None:
    with pytest.raises(DataError, match=told):
        load_graph("planted", options=options)


def test_few_labels() -> None:
    graph, _ = planted()
    splits = make_splits(graph, "planted", "20-per-class", 2, 0)
    assert [int(mask[1].sum()) for mask in (splits.train, splits.val, splits.test)] == [
        *(100, 500, 1000)
    ]
    assert "random-60-20-20" in DATASETS["planted"].splits
