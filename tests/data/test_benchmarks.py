"""Made-up graphs in the formats of the benchmarks, from a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data import DATASETS, DatasetInfo, Statistics, describe, load_graph, make_splits
from ppro.data.content import graph_content
from ppro.data.records import FileSet
from ppro.errors import DataError
from ppro.graph.core import Graph

NODES, CLASSES = 24, 3


@dataclass(frozen=True)
class Made:
    """A ring with chords: one-hot classes beside noise, and two splits. Edges ``[E, 2]``."""

    edges: NDArray[np.int64]
    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    masks: NDArray[np.bool_]


@pytest.fixture
def made() -> Made:
    rng = np.random.default_rng(3)
    node = np.arange(NODES)
    edges = np.concatenate(
        [np.stack([node, (node + 1) % NODES], 1), np.stack([node, (node + 5) % NODES], 1)]
    )
    labels = node % CLASSES
    features = np.eye(CLASSES, dtype=np.float32)[labels].repeat(3, 1)
    features[:, 0] = rng.random(NODES).round(3) + 0.5
    parts = np.stack([rng.permutation(NODES) % 3 for _ in range(2)])
    return Made(edges, features, labels, np.stack([parts == part for part in range(3)]))


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def heterophilous(made: Made) -> bytes:
    masks = dict(zip(("train_masks", "val_masks", "test_masks"), made.masks, strict=True))
    return npz(node_features=made.features, node_labels=made.labels, edges=made.edges, **masks)


def adjacency(made: Made) -> sp.csr_matrix:
    ends = made.edges.T
    return sp.csr_matrix((np.ones(len(made.edges), dtype=np.float32), ends), (NODES, NODES))


def csr(made: Made) -> bytes:
    matrices = {"adj": adjacency(made), "attr": sp.csr_matrix(made.features)}
    arrays = {
        f"{name}_{part}": getattr(matrix, part)
        for name, matrix in matrices.items()
        for part in ("data", "indices", "indptr", "shape")
    }
    # Upstream's files hold names too, pickled: nobody may look at them.
    names = np.array([{"name": str(i)} for i in range(NODES)], dtype=object)
    return npz(**arrays, labels=made.labels, node_names=names)


def graph_data(made: Made) -> bytes:
    attributes = sp.csr_matrix(made.features)
    return npz(adj_matrix=adjacency(made), node_attr=attributes, node_label=made.labels)


def wiki_cs(made: Made) -> bytes:
    links: list[list[int]] = [[] for _ in range(NODES)]
    for source, target in made.edges.tolist():
        links[source].append(target)
    train, val, _ = made.masks
    test = np.zeros(NODES, dtype=bool)
    test[:4] = True
    stop = val & (np.arange(NODES) % 2 == 0)
    return json.dumps(
        {
            "features": made.features.tolist(),
            "labels": made.labels.tolist(),
            "links": links,
            "train_masks": (train & ~test).tolist(),
            "val_masks": (val & ~stop & ~test).tolist(),
            "stopping_masks": (stop & ~test).tolist(),
            "test_mask": test.tolist(),
        }
    ).encode()


def table(rows: NDArray[Any]) -> bytes:
    return gzip.compress("".join(",".join(map(str, row)) + "\n" for row in rows.tolist()).encode())


def ogb(made: Made) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("arxiv/raw/edge.csv.gz", table(made.edges))
        archive.writestr("arxiv/raw/node-feat.csv.gz", table(made.features))
        archive.writestr("arxiv/raw/node-label.csv.gz", table(made.labels[:, None]))
        for part, mask in zip(("train", "valid", "test"), made.masks[:, 0], strict=True):
            nodes = np.flatnonzero(mask)[:, None]
            archive.writestr(f"arxiv/split/time/{part}.csv.gz", table(nodes))
    return stream.getvalue()


WRITERS: dict[str, Callable[[Made], bytes]] = {
    "npz": heterophilous,
    "csr": csr,
    "graph-data": graph_data,
    "wiki-cs": wiki_cs,
    "ogb": ogb,
}
BENCHMARKS = [
    *("roman-empire", "amazon-ratings", "minesweeper", "tolokers", "questions"),
    *("chameleon-filtered", "squirrel-filtered", "cora-ml", "dblp", "blogcatalog", "amazon-cs"),
    *("amazon-photo", "coauthor-cs", "coauthor-physics", "wikics", "ogbn-arxiv"),
]


def offered(info: DatasetInfo) -> FileSet:
    """The source of a record that can be downloaded."""
    return next(s for s in info.sources if all(file.url for file in s.files))


Serve = Callable[[str, Mapping[str, bytes] | bytes], DatasetInfo]


@pytest.fixture
def serve(server: Any, made: Made, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Put made-up content behind the address of a benchmark, of which all else stays."""

    def put(name: str, content: Any) -> DatasetInfo:
        info = DATASETS[name]
        source = offered(info)
        (file,) = source.files
        path = f"/{file.path}"
        server.pages[path] = content
        known = None if file.sha256 is None else hashlib.sha256(content).hexdigest()
        there = replace(file, url=server.url + path, sha256=known)
        masks = (there,) if source.split_files else ()
        sizes = Statistics(NODES, len(made.edges), made.features.shape[1], CLASSES)
        changed = replace(
            info,
            sources=(replace(source, files=(there,), split_files=masks),),
            expected=sizes,
            content="",
        )
        monkeypatch.setitem(DATASETS, name, changed)
        return changed

    return put


def same(graph: Graph, made: Made) -> None:
    np.testing.assert_array_equal(graph.labels, made.labels)
    np.testing.assert_array_equal(graph.features.to_dense(), made.features)
    found = {(a, b) for a, b in graph.edge_index.T.tolist() if a < b}
    assert found == {(min(a, b), max(a, b)) for a, b in made.edges.tolist()}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_downloaded_read_and_split(
    server: Any, serve: Serve, made: Made, name: str
) -> None:
    writer = WRITERS[offered(DATASETS[name]).format]
    info = serve(name, writer(made))
    graph = load_graph(name)
    same(graph, made)
    assert describe(graph)["nodes"] == NODES
    for split in info.splits:
        splits = make_splits(graph, name, split, 3, 0)
        assert splits.runs == 3
        assert bool(splits.test.any())
    load_graph(name, offline=True)
    assert len(server.asked) == 1


def test_the_splits_are_those_of_the_file(serve: Serve, made: Made) -> None:
    for name in ("tolokers", "wikics", "ogbn-arxiv"):
        serve(name, WRITERS[offered(DATASETS[name]).format](made))
    graph = load_graph("tolokers")
    splits = make_splits(graph, "tolokers", "given", 2, 0)
    for part, mask in zip((splits.train, splits.val, splits.test), made.masks, strict=True):
        np.testing.assert_array_equal(part, mask)
    wiki = make_splits(graph, "wikics", "given", 2, 0)
    test = np.arange(NODES) < 4
    np.testing.assert_array_equal(wiki.test, np.stack([test, test]))
    np.testing.assert_array_equal(wiki.val, made.masks[1] & ~test)
    arxiv = make_splits(graph, "ogbn-arxiv", "given", 2, 0)
    np.testing.assert_array_equal(arxiv.train, made.masks[0][[0, 0]])
    np.testing.assert_array_equal(arxiv.test, made.masks[2][[0, 0]])


@pytest.mark.parametrize("name", ["amazon-photo", "blogcatalog"])
def test_unknown_bytes_must_hold_the_graph_of_the_catalogue(
    serve: Serve, made: Made, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    info = serve(name, WRITERS[offered(DATASETS[name]).format](made))
    right = graph_content(load_graph(name))
    monkeypatch.setitem(DATASETS, name, replace(info, content=right))
    same(load_graph(name), made)
    monkeypatch.setitem(DATASETS, name, replace(info, content="0" * 64))
    with pytest.raises(DataError, match=f"not the {name} of the catalogue, though of its sizes"):
        load_graph(name)
    monkeypatch.setitem(DATASETS, name, replace(info, expected=Statistics(5, 6, 7, 2)))
    with pytest.raises(
        DataError, match="24 nodes, 48 edges, 9 features and 3 classes instead of 5"
    ):
        load_graph(name)


def test_known_bytes_must_be_those(serve: Serve, server: Any, made: Made) -> None:
    serve("tolokers", heterophilous(made))
    server.pages["/heterophilous-graphs/tolokers.npz"] += b" "
    with pytest.raises(DataError, match=r"tolokers\.npz from 127\.0\.0\.1.*hash"):
        load_graph("tolokers")


@pytest.mark.parametrize("name", ["amazon-photo", "blogcatalog"])
def test_a_page_instead_of_the_file_is_refused(serve: Serve, name: str) -> None:
    serve(name, b"<html>not here</html>")
    with pytest.raises(DataError, match=r"not a readable npz file.*delete the file and fetch it"):
        load_graph(name)


def test_one_who_has_nothing_is_asked_for_the_file_that_somebody_offers() -> None:
    with pytest.raises(DataError) as caught:
        load_graph("amazon-cs", offline=True)
    assert "gnn-benchmark/amazon_electronics_computers.npz" in str(caught.value)
    assert str(caught.value).count("more/amazon-cs.npz") == 1


def test_the_content_of_a_graph_does_not_depend_on_how_it_is_stored() -> None:
    graph = load_graph("csbm", options={"nodes": 40, "features": 4})
    sparse = replace(graph, features=graph.features.to_sparse_csr())
    assert graph_content(graph) == graph_content(sparse)
    other = replace(graph, labels=graph.labels.flip(0))
    assert graph_content(graph) != graph_content(other)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "there"),
    [("squirrel-filtered", "squirrel_filtered"), ("minesweeper", "graphs/minesweeper")],
)
def test_upstreams_file_differs_from_ours_in_its_frame_alone(
    real_data: Path, name: str, there: str
) -> None:
    """An older zip of the same arrays has the hash of upstream's file."""
    ours = real_data / "more" / f"{name}.npz"
    if not ours.is_file():
        pytest.skip(f"PPRO_DATA has no {ours.name}")
    content = bytearray(ours.read_bytes())
    with zipfile.ZipFile(ours) as archive:
        at, members = archive.start_dir, archive.infolist()
    for member in members:
        start = member.header_offset
        sizes = np.array([member.compress_size, member.file_size], "<u4").tobytes()
        content[start + 4 : start + 6] = (20).to_bytes(2, "little")
        content[start + 18 : start + 26] = sizes
        content[at + 4] = content[at + 6] = 20
        at += 46 + sum(int.from_bytes(content[at + k : at + k + 2], "little") for k in (28, 30, 32))
    files = [s.files[0] for s in DATASETS[name].sources]
    expected = next(file.sha256 for file in files if file.path.endswith(f"{there}.npz"))
    assert hashlib.sha256(content).hexdigest() == expected
