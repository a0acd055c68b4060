from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ppro.data import DATASETS, default_split, load_graph, make_splits
from ppro.errors import DataError
from ppro.graph.core import Graph

DOWNLOADED = [name for name, info in DATASETS.items() if info.sources]
FIXED = [(n, s) for n in DOWNLOADED for s in DATASETS[n].splits if not s.startswith("random")]


@pytest.fixture
def tiny() -> Graph:
    return load_graph("csbm", options={"nodes": 60})


def test_default_splits() -> None:
    chosen = {name: default_split(name) for name in DATASETS}
    public = {name for name, split in chosen.items() if split == "public"}
    assert public == {"cora", "citeseer", "pubmed"}
    given = {name for name, split in chosen.items() if split == "given"}
    assert {"squirrel-filtered", "minesweeper", "wikics", "ogbn-arxiv"} < given
    assert all("given" in DATASETS[name].splits for name in given)
    assert {chosen[name] for name in set(DATASETS) - public - given} == {"random-60-20-20"}


def test_a_graph_outside_the_catalogue_can_be_split_at_random(tiny: Graph) -> None:
    splits = make_splits(tiny, "my own graph", "random-60-20-20", 3, 0)
    assert splits.train.shape == (3, 60)
    assert splits.train.sum(1).tolist() == [36, 36, 36]


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("csbm", "pubic", "unknown split 'pubic'; did you mean 'public'"),
        ("csbm", "public", "csbm has no split public; it has random-60-20-20"),
        ("cora", "geom-gcn-48-32-20", "cora has no split geom-gcn"),
        ("my own graph", "public", "unknown dataset"),
    ],
)
def test_a_split_the_dataset_does_not_have(
    tiny: Graph, name: str, split: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        make_splits(tiny, name, split, 1, 0, offline=True)


@pytest.mark.parametrize(("runs", "seed"), [(0, 0), (1, -1)])
def test_runs_and_seed_are_checked(tiny: Graph, runs: int, seed: int) -> None:
    with pytest.raises(DataError, match="at least one run"):
        make_splits(tiny, "csbm", "random-60-20-20", runs, seed)


def test_a_misspelled_dataset() -> None:
    with pytest.raises(DataError, match="did you mean 'citeseer'"):
        load_graph("citeseeer")


@pytest.mark.data
@pytest.mark.parametrize("name", DOWNLOADED)
def test_a_downloaded_graph_is_sparse_named_and_finite(
    at_hand: Callable[[str], Path], name: str
) -> None:
    graph = load_graph(name, data_root=at_hand(name), offline=True)
    assert graph.features.layout == torch.sparse_csr
    assert graph.features.dtype == torch.float32
    assert graph.name == name
    assert graph.num_classes == len(set(graph.labels.tolist()))


@pytest.mark.data
@pytest.mark.parametrize(("name", "split"), FIXED)
def test_fixed_splits_of_the_real_graphs(
    at_hand: Callable[[str], Path], name: str, split: str
) -> None:
    real_data = at_hand(name)
    graph = load_graph(name, data_root=real_data, offline=True)
    splits = make_splits(graph, name, split, 12, 0, data_root=real_data, offline=True)
    assert splits.train.shape == (12, graph.num_nodes)
    if split == "public":
        sizes = [int(mask[5].sum()) for mask in (splits.train, splits.val, splits.test)]
        assert sizes == [20 * graph.num_classes, 500, 1000]
        assert torch.equal(splits.train[0], splits.train[11])
    else:
        assert torch.equal(splits.train[0], splits.train[10])
        assert not torch.equal(splits.train[0], splits.train[1])
        assert bool((splits.train | splits.val | splits.test).all())


@pytest.mark.data
def test_texas_trains_on_its_class_of_one_node(real_data: Path) -> None:
    graph = load_graph("texas", data_root=real_data, offline=True)
    splits = make_splits(graph, "texas", "random-60-20-20", 5, 0)
    assert bool(splits.train[:, graph.labels == 1].all())


@pytest.mark.data
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_planetoid_graphs_equal_those_of_pytorch_geometric(
    real_data: Path, tmp_path: Path, name: str
) -> None:
    geometric = pytest.importorskip("torch_geometric.datasets")
    folder = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}[name]
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "raw").symlink_to(real_data / folder / "raw")
    theirs = geometric.Planetoid(tmp_path, folder)[0]
    ours = load_graph(name, data_root=real_data, offline=True)
    splits = make_splits(ours, name, "public", 1, 0, data_root=real_data, offline=True)
    pairs = theirs.edge_index[:, theirs.edge_index[0] != theirs.edge_index[1]]
    assert torch.equal(torch.unique(pairs, dim=1), ours.edge_index)
    assert torch.equal(theirs.x, ours.features.to_dense())
    assert torch.equal(theirs.y, ours.labels)
    for part in ("train", "val", "test"):
        assert torch.equal(getattr(theirs, f"{part}_mask"), getattr(splits, part)[0])
