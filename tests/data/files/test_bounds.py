"""Files that stand for more than they hold, or for nothing that can be: refused, and at once."""

from __future__ import annotations

import json
import os
import resource
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

from ppro.data.files import FileSource, Layout, guard, read_source
from ppro.data.files.pair import read_pair
from ppro.data.files.tables import MAX_COLUMNS, FileTable, check_names
from ppro.errors import DataError
from ppro.graph.core import LONGEST_TEXT, Graph
from ppro.graph.labels import known_labels

MIB = 2**20


@contextmanager
def bounded(seconds: float = 10, mib: int = 600) -> Iterator[None]:
    """Whatever happens inside takes little time, and little memory beyond what was held before."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    yield
    assert time.monotonic() - start < seconds
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < mib * 1024


def read(path: Path) -> Any:
    return read_source(FileSource(graph=str(path)))


def refused(path: Path, match: str) -> None:
    with bounded(), pytest.raises(DataError, match=match) as error:
        read(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 800


def edges(folder: Path, number: int = 3) -> Path:
    path = folder / "edges.csv"
    path.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(number)))
    return path


@pytest.mark.parametrize("kind", ["numbers", "texts", "long texts"])
def test_parquet_of_equal_cells(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "nodes.parquet"
    rows = {"numbers": 3_000_000, "texts": 10_000_000, "long texts": 20_000}[kind]
    cell = {"numbers": 0.0, "texts": "a", "long texts": "a" * 100_000}[kind]
    column = pa.array([cell]).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), column.dictionary)
    names = [f"f{i}" for i in range(30 if kind == "numbers" else 1)]
    table = pa.table(dict.fromkeys(names, column))
    pq.write_table(table, path)
    assert path.stat().st_size < MIB
    with bounded(), pytest.raises(DataError, match="stand for"):
        FileTable(path).read(())


def test_columns_with_equal_names_are_found_at_once(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(MAX_COLUMNS - 1)]
    with bounded(), pytest.raises(DataError, match="two columns are named 'c7'"):
        check_names(tmp_path, [*names, "c7"])
    path = tmp_path / "nodes.csv"
    path.write_text(",".join(f"c{i}" for i in range(300_000)) + ",c7\n")
    with bounded(), pytest.raises(DataError, match="300,001 columns"):
        read_pair(path, edges(tmp_path), Layout())


@pytest.mark.parametrize(
    "text",
    ["<a>" + "x" * 20_000_000 + "</a>", '<a b="' + "x" * 20_000_000 + '"/>'],
    ids=["text", "attribute"],
)
def test_graphml_with_one_long_token(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(f'<graphml><graph edgedefault="undirected">{text}</graph></graphml>')
    refused(path, "no nodes or no edges|not a readable GraphML")


def saved(path: Path, facts: dict[str, Any], **tensors: torch.Tensor) -> Path:
    usual = {
        "edge_index": torch.tensor([[0, 1], [1, 2]]),
        "x.crow_indices": torch.tensor([0, 1, 2, 3]),
        "x.col_indices": torch.tensor([0, 1, 0]),
        "x.values": torch.ones(3),
        "y": torch.tensor([0, 1, 0]),
    }
    text = json.dumps({"format": 1, "num_features": 2, **facts})
    save_file({**usual, **tensors}, str(path), metadata={"ppro": text})
    return path


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        ({"num_features": 10**9}, "1,000,000,000 features for 3 values"),
        ({"num_features": 10**30}, "features for 3 values"),
        ({"num_features": 0}, "metadata"),
        ({"node_ids": ["a", "b", "x" * 20_000_000]}, "id 2 is of 20,000,000 characters"),
        ({"class_names": ["a", "x" * 20_000_000]}, "class name 1 is of 20,000,000 characters"),
        ({"node_ids": ["a", "b", "\ud800"]}, "no text that a file can hold"),
        ({"class_names": ["a", "\udfff"]}, "no text that a file can hold"),
        ({"class_names": ["a", "a"]}, "two classes are named 'a'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_saved_graphs_that_lie(tmp_path: Path, facts: dict[str, Any], match: str) -> None:
    refused(saved(tmp_path / "g.safetensors", facts), match)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fn, torch.uint16])
def test_tensors_of_other_types(tmp_path: Path, dtype: torch.dtype) -> None:
    path = saved(tmp_path / "g.safetensors", {}, y=torch.tensor([0, 1, 0]).to(dtype))
    if dtype is torch.uint16:
        assert read(path).graph.labels.tolist() == [0, 1, 0]
    else:
        refused(path, "y|node_labels")


def npz(path: Path, **arrays: Any) -> Path:
    usual = {
        "edges": np.array([[0, 1], [1, 2]]),
        "node_features": np.eye(3, dtype=np.float32),
        "node_labels": np.array([0, 1, 0]),
    }
    np.savez(path, **{**usual, **arrays})
    return path


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({f"{part}_masks": np.zeros((0, 3), bool) for part in ("train", "val", "test")}, "mask of"),
        ({"node_ids": np.array(["a", "b", "\ud800"])}, "no text that a file can hold"),
        ({"class_names": np.array(["a", "a"])}, "two classes are named"),
        ({"node_labels": np.array([0, 1, 2**64 - 1], np.uint64)}, "number the classes from 0"),
        ({"node_ids": np.array(["a", "b"])}, "node_ids of shape"),
    ],
    ids=["no run", "half a character", "twice", "large label", "too few"],
)
def test_arrays_that_lie(tmp_path: Path, arrays: dict[str, Any], match: str) -> None:
    refused(npz(tmp_path / "g.npz", **arrays), match)


def test_code_points_that_are_none(tmp_path: Path) -> None:
    broken = (np.array(["a", "b", "c"]).view(np.uint32) + np.uint32(0x110000)).view("<U1")
    refused(npz(tmp_path / "g.npz", node_ids=broken), "characters that there are none")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_are_damaged_inside(tmp_path: Path, method: int) -> None:
    whole = npz(tmp_path / "whole.npz", node_features=np.random.default_rng(0).random((3, 500)))
    path = tmp_path / "g.npz"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    content = bytearray(path.read_bytes())
    accepted = 0
    for place in range(40, len(content), len(content) // 60):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        with suppress(DataError):
            read(path)
            accepted += 1
    assert accepted < 30


def test_archives_that_unpack_to_much_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ALLOWANCE", 16 * MIB)
    path = tmp_path / "g.npz"
    header = b"\x93NUMPY\x01\x00v\x00" + (
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (10000, 1000), }".ljust(117) + b"\n"
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("node_features.npy", "w", force_zip64=True) as member,
    ):
        member.write(header)
        for _ in range(40):
            member.write(bytes(1_000_000))
    assert path.stat().st_size < 2 * MIB
    refused(path, "stand for")


def test_pipes_are_refused(tmp_path: Path) -> None:
    for suffix in ("npz", "graphml", "safetensors"):
        os.mkfifo(tmp_path / f"g.{suffix}")
        refused(tmp_path / f"g.{suffix}", "not a regular file")
    os.mkfifo(tmp_path / "nodes.csv")
    with bounded(), pytest.raises(DataError, match="not a regular file"):
        read_pair(tmp_path / "nodes.csv", edges(tmp_path), Layout())


LARGE = 2**53
NODES = pa.table(
    {
        "id": pa.array([LARGE + 1, LARGE + 2, LARGE + 3, LARGE]),
        "label": pa.array([LARGE, LARGE + 1, None, LARGE]),
        "x": pa.array([0.5, 1.5, 2.5, 3.5]),
    }
)


def test_whole_numbers_stay_whole_with_missing_cells(tmp_path: Path) -> None:
    path, links = tmp_path / "nodes.parquet", tmp_path / "edges.parquet"
    pq.write_table(NODES, path)
    pq.write_table(
        pa.table({"source": [LARGE, LARGE + 1], "target": [LARGE + 2, LARGE + 3]}), links
    )
    found = read_pair(path, links, Layout())
    assert found.graph.class_names == (str(LARGE), str(LARGE + 1))
    assert found.graph.labels.tolist() == [0, 1, -1, 0]
    assert found.graph.node_ids == tuple(str(LARGE + i) for i in (1, 2, 3, 0))
    assert found.graph.num_edges == 2
    NODES.to_pandas(types_mapper=pd.ArrowDtype).to_csv(tmp_path / "nodes.csv", index=False)
    again = read_pair(tmp_path / "nodes.csv", links, Layout())
    assert again.graph.class_names == found.graph.class_names
    assert again.graph.labels.tolist() == [0, 1, -1, 0]


def test_whole_numbers_of_the_estimator_stay_whole() -> None:
    values, known = known_labels([LARGE, LARGE + 1, None], 3, "y")
    assert values.tolist()[:2] == [LARGE, LARGE + 1]
    assert known.tolist() == [True, True, False]
    with pytest.raises(DataError, match="beyond 64 bits"):
        known_labels([2**70, 1, None], 3, "y")


def test_numbers_of_many_digits_are_names(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    long = "7" * 3000
    path.write_text(f"id,label,x\n0,{long},1\n1,{long},2\n2,b,3\n3,1e400,1\n")
    found = read_pair(path, edges(tmp_path), Layout())
    assert set(found.graph.class_names) == {long, "b", "1e400"}
    path.write_text(f"id,label,x\n0,{long * 2},1\n1,5,2\n2,5,3\n3,5,1\n")
    with pytest.raises(DataError, match="class name 1 is of 6,000 characters"):
        read_pair(path, edges(tmp_path), Layout())


def test_a_graph_takes_texts_that_files_can_hold() -> None:
    parts = (torch.tensor([[0], [1]]), torch.eye(2), torch.tensor([0, 1]))
    Graph.build("g", *parts, node_ids=["a", "ä" * LONGEST_TEXT])
    for names in (["a", "\udc80"], ["a", "b" * (LONGEST_TEXT + 1)]):
        with pytest.raises(DataError, match="id 1 is"):
            Graph.build("g", *parts, node_ids=names)
        with pytest.raises(DataError, match="class name 1 is"):
            Graph.build("g", *parts, class_names=names)
