from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from ppro.data import (
    DATASETS,
    DatasetInfo,
    Generator,
    default_split,
    describe,
    kind_of,
    load_graph,
    make_splits,
    register_dataset,
)
from ppro.data.readers.raw import Masks
from ppro.errors import DataError
from ppro.graph.core import Graph


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
        ({"degree": "many"}, "from 0 to 1000"),
    ],
)
def test_wrong_options(options: dict[str, float | str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_graph("csbm", options=options)


def test_a_downloaded_graph_takes_noise_alone() -> None:
    with pytest.raises(DataError, match="cora: unknown option 'nodes'; did you mean 'noise'"):
        load_graph("cora", options={"nodes": 3})


def test_a_registered_dataset_brings_its_own_split(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(info: DatasetInfo, seed: int, options: Mapping[str, float]) -> Graph:
        labels = torch.arange(6) % 2
        return Graph.build(info.name, torch.tensor([[0, 1, 2], [3, 4, 5]]), torch.eye(6), labels)

    def masks(graph: Graph, split: str) -> Masks:
        assert split == "halves"
        parts = np.arange(6).reshape(3, 1, 2)
        return Masks(*(np.isin(np.arange(6), part)[None] for part in parts))

    record = DatasetInfo(
        "pairs",
        "Pairs",
        "heterophilous",
        generator=Generator(make, masks=masks),
        splits=("halves",),
    )
    monkeypatch.setitem(DATASETS, "pairs", record)
    assert register_dataset(record) is record
    assert (kind_of("pairs"), default_split("pairs")) == ("heterophilous", "halves")
    graph = load_graph("pairs")
    splits = make_splits(graph, "pairs", "halves", 3, 0)
    assert splits.train.tolist() == 3 * [[True, True, False, False, False, False]]
    assert splits.test.sum() == 6
    with pytest.raises(DataError, match=r"unknown split 'thirds'; valid: .*halves"):
        make_splits(graph, "pairs", "thirds", 1, 0)
    with pytest.raises(DataError, match="pairs has no split public; it has halves"):
        make_splits(graph, "pairs", "public", 1, 0)
    with pytest.raises(DataError, match="pairs: unknown option 'nodes'"):
        load_graph("pairs", options={"nodes": 3})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"name": "Two words"}, "use small letters, digits and hyphens"),
        ({"kind": "mixed"}, "kind is 'mixed'; say homophilous or heterophilous"),
        ({"splits": ()}, "name at least one split"),
        ({"generator": None}, "give either sources or a generator"),
    ],
)
def test_a_record_that_says_too_little(values: dict[str, Any], told: str) -> None:
    record: dict[str, Any] = {"name": "a", "title": "A", "kind": "homophilous"}
    record["generator"] = DATASETS["csbm"].generator
    with pytest.raises(DataError, match=told):
        DatasetInfo(**{**record, **values})


def test_a_dataset_of_the_package_stays_what_it_is() -> None:
    with pytest.raises(DataError, match="dataset 'cora': the package has one"):
        register_dataset(replace(DATASETS["csbm"], name="cora"))
