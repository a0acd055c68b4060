"""Broken, odd and hostile files: one line that says what and where, exit code 2, nothing left."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.cli.conftest import Command, everything

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NODES = "id,age,city,topic,part\n" + "".join(
    f"n{k},{20 + k},{'AB'[k % 2]},{'xy'[k % 2]},{('train', 'train', 'val', 'val', 'test')[k % 5]}\n"
    for k in range(10)
)
EDGES = "source,target,w\n" + "".join(f"n{k},n{(k + 1) % 10},{k + 1}\n" for k in range(10))
PAIR = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
SLOWEST = 5.0

Make = Callable[[Path], tuple[str, ...]]


def tables(nodes: str | bytes | None = None, edges: str | bytes | None = None, *more: str) -> Make:
    """Two tables, one of them broken, and the words after them."""

    def make(folder: Path) -> tuple[str, ...]:
        for name, given, good in (("nodes.csv", nodes, NODES), ("edges.csv", edges, EDGES)):
            content = good if given is None else given
            raw = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(raw)
        return (*PAIR, *more)

    return make


def swapped(old: str, new: str, text: str = NODES) -> str:
    assert old in text
    return text.replace(old, new, 1)


ARRAYS: dict[str, Any] = {
    "node_features": np.arange(12, dtype=np.float32).reshape(6, 2),
    "node_labels": np.array([0, 1, 0, 1, 0, 1]),
    "edges": np.array([[0, 1], [2, 3], [4, 5]]),
}
FIRST, SECOND, THIRD = (np.array([[k // 2 == part for k in range(6)]]) for part in range(3))


def npz(**changed: Any) -> Make:
    def make(folder: Path) -> tuple[str, ...]:
        arrays = {k: v for k, v in (ARRAYS | changed).items() if v is not None}
        np.savez(folder / "g.npz", **arrays)
        return ("g.npz",)

    return make


def npy(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(*members: tuple[str, bytes], compress: bool = False) -> Make:
    def make(folder: Path) -> tuple[str, ...]:
        how = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        with zipfile.ZipFile(folder / "g.npz", "w", how) as archive:
            for name, content in members:
                archive.writestr(name, content)
        return ("g.npz",)

    return make


def single(name: str, content: bytes | str, *more: str) -> Make:
    def make(folder: Path) -> tuple[str, ...]:
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(raw)
        return (name, *more)

    return make


def claiming(shape: tuple[int, ...]) -> bytes:
    """An npy file whose header claims far more than it holds."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * 64


def long_header() -> bytes:
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{" * 100


def lying() -> Make:
    """A member whose entry in the directory says that it unpacks to four gigabytes."""

    def make(folder: Path) -> tuple[str, ...]:
        words = zipped(("edges.npy", b"\0" * 100), compress=True)(folder)
        raw = bytearray((folder / "g.npz").read_bytes())
        where = raw.index(b"PK\x01\x02") + 24
        raw[where : where + 4] = struct.pack("<I", 2**32 - 2)
        (folder / "g.npz").write_bytes(bytes(raw))
        return words

    return make


class Hostile:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, ("executed",)


def objects() -> bytes:
    return npy(np.array([Hostile(), Hostile()], dtype=object))


def parquet(cut: int | None = None, **changed: Any) -> Make:
    def make(folder: Path) -> tuple[str, ...]:
        columns: dict[str, Any] = {"id": list("abcdef"), "x": range(6), "topic": list("uvuvuv")}
        pq.write_table(pa.table(columns | changed), folder / "nodes.parquet")
        raw = (folder / "nodes.parquet").read_bytes()
        (folder / "nodes.parquet").write_bytes(raw[:cut])
        (folder / "edges.csv").write_text("source,target\na,b\nc,d\n")
        return ("--nodes", "nodes.parquet", "--edges", "edges.csv", "--label", "topic")

    return make


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>{doctype}
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="topic" attr.type="string"/>
<key id="d1" for="node" attr.name="x" attr.type="double"/>
<graph edgedefault="undirected">
<node id="a"><data key="d0">u</data><data key="d1">{x}</data></node>
<node id="{second}"><data key="d0">v</data><data key="d1">2</data></node>
<edge source="a" target="{end}"/>
</graph></graphml>"""
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)


BOTH = {"x": "1", "second": "b", "end": "b"}


def graphml(doctype: str = "", x: str = "1", second: str = "b", end: str = "b") -> Make:
    text = GRAPHML.format(doctype=doctype, x=x, second=second, end=end)
    return single("g.graphml", text, "--label", "topic")


def tensors(metadata: dict[str, str] | None = None, **changed: Any) -> Make:
    def make(folder: Path) -> tuple[str, ...]:
        good = {
            "x": torch.eye(4),
            "y": torch.tensor([0, 1, 0, 1]),
            "edge_index": torch.tensor([[0, 1], [2, 3]]),
        }
        kept = {k: v for k, v in (good | changed).items() if v is not None}
        save_file(kept, str(folder / "g.safetensors"), metadata=metadata)
        return ("g.safetensors",)

    return make


def folder_instead(folder: Path) -> tuple[str, ...]:
    tables()(folder)
    (folder / "nodes.csv").unlink()
    (folder / "nodes.csv").mkdir()
    return PAIR


def no_file(folder: Path) -> tuple[str, ...]:
    tables()(folder)
    (folder / "edges.csv").unlink()
    return PAIR


SPLIT = ("--split-column", "part")
CORPUS: dict[str, tuple[Make, str]] = {
    # Tables: the files themselves.
    "no file": (no_file, "edges.csv: No such file or directory; check the path"),
    "a folder": (folder_instead, "nodes.csv: is a folder; name the file inside it"),
    "empty": (tables(""), "nodes.csv: the file is empty; write it again"),
    "header only": (tables(nodes="id,x,topic\n"), "nodes.csv: a header and no rows"),
    "no edges": (tables(edges="source,target\n"), "edges.csv: a header and no rows"),
    "blank lines": (tables("\n\n\n"), "nodes.csv: no header row with column names"),
    "UTF-16": (tables(NODES.encode("utf-16")), "nodes.csv, the header: byte 0xff is not UTF-8"),
    "mixed encodings": (
        tables(NODES.encode() + "n10,5,Orléans,x,none\n".encode("latin-1")),
        "nodes.csv, row 11: byte 0xe9 is not UTF-8 text; save the file in the encoding UTF-8",
    ),
    "binary": (tables(bytes(range(256)) * 4), "nodes.csv"),
    "NUL": (tables(b"\0" * 100), "nodes.csv: no header row"),
    "a short row": (tables(NODES + "n10,3\n"), "nodes.csv, row 11: 2 cells for the 5 columns"),
    "a long row": (tables(None, EDGES + "n1,n2,3,4\n"), "edges.csv, row 11: 4 cells for the 3"),
    "cut off": (tables(NODES[:-20]), "nodes.csv, row 9: 4 cells for the 5 columns"),
    "a nameless column": (tables(swapped("age", "")), "nodes.csv: column 2 has no name"),
    "a name that rings": (tables(swapped("age", "a\a")), r"column 2 is named 'a\x07'; use plain"),
    "a name twice": (tables(swapped("age", "city")), "two columns are named 'city'; rename one"),
    "an unknown kind": (
        lambda folder: ("--nodes", "n.xlsx", "--edges", "e.csv"),
        "n.xlsx: No such file",
    ),
    "a spreadsheet": (
        lambda folder: (*single("n.xlsx", b"PK")(folder), "--label", "y"),
        "n.xlsx: unknown kind of file; PPro reads .npz",
    ),
    # Tables: what they hold.
    "no label column": (
        tables(None, None, "--label", "topc"),
        "nodes.csv: no column 'topc'; did you mean 'topic'?",
    ),
    "no id column": (tables(None, None, "--id", "key"), "nodes.csv: no column 'key'"),
    "no such feature": (tables(None, None, "--features", "agee"), "no column 'agee'; did you mean"),
    "no such words": (tables(None, None, "--words", "agee"), "no column 'agee'; did you mean"),
    "words of numbers": (tables(None, None, "--words", "age"), "leave it out of --words"),
    "no such weight": (tables(None, None, "--weight", "ww"), "edges.csv: no column 'ww'"),
    "label as feature": (tables(None, None, "--features", "topic"), "column topic cannot be a"),
    "an unknown id": (
        tables(None, EDGES + "n1,n77,1\n"),
        "edges.csv, row 11, column target: no node has the id 'n77' (1 such rows); add the nodes",
    ),
    "no end": (tables(None, EDGES + "n1,,1\n"), "edges.csv, row 11, column target: the id is miss"),
    "an id twice": (
        tables(swapped("n3,", "n1,")),
        "nodes.csv, row 4, column id: id 'n1' is that of row 2 too",
    ),
    "no id": (tables(swapped("n3,", ",")), "nodes.csv, row 4, column id: a node without id"),
    "a wrong number": (
        tables(swapped("23", "2x3")),
        "nodes.csv, row 4, column age: '2x3' is not a number; correct the cell or leave it empty",
    ),
    "infinite": (tables(swapped("23", "inf")), "row 4, column age: 'inf' is infinite or too large"),
    "too large": (tables(swapped("23", "1e300")), "row 4, column age: '1e+300' is infinite or too"),
    "missing": (
        tables(swapped("23", ""), None, "--missing", "error"),
        "nodes.csv, row 4, column age: the value is missing; fill it in, or use --missing mean",
    ),
    "all missing": (
        tables("id,x,topic\na,,u\nb,,v\n", None, "--features", "x"),
        "nodes.csv, column x: every cell is missing; leave it out of --features",
    ),
    "nothing to learn from": (tables("id,x,topic\na,,u\nb,,v\n"), "no column can be a feature"),
    "dates": (
        tables("id,x,topic\na,2020-01-01,u\nb,2020-01-02,v\n", None, "--features", "x"),
        "nodes.csv, column x: cells of type date",
    ),
    "a negative label": (
        tables("id,x,topic\na,1,0\nb,2,-3\n"),
        "nodes.csv, row 2, column topic: label -3 is negative; classes count from 0",
    ),
    "a measured label": (
        tables("id,x,topic\na,1,0.5\nb,2,1\n"),
        "nodes.csv, row 1, column topic: label 0.5 is not a class; use names or whole numbers",
    ),
    "a label without end": (tables("id,x,topic\na,1,inf\nb,2,1\n"), "label inf is not a class"),
    "one class": (tables("id,x,topic\na,1,u\nb,2,u\n"), "column topic: only the class 'u'"),
    "no label": (tables("id,x,topic\na,1,\nb,2,\n"), "column topic: no label at all"),
    "one node": (tables("id,x,topic\na,1,u\n", "source,target\na,a\n"), "only the class 'u'"),
    "self-loops only": (
        tables("id,x,topic\na,1,u\nb,2,v\n", "source,target\na,a\n"),
        "edges.csv: no edge between two different nodes; add edges",
    ),
    "one end column": (tables(None, "source\nn1\n"), "edges.csv: one column only"),
    "half the ends": (tables(None, None, "--source", "source"), "give both --source and --target"),
    "no weight": (
        tables(None, EDGES + "n1,n2,\n", "--weight", "w"),
        "edges.csv, row 11, column w: weight nan; weights are positive",
    ),
    "a negative weight": (tables(None, EDGES + "n1,n2,-1\n", "--weight", "w"), "weight -1;"),
    "no such part": (
        tables(swapped("train", "trian"), None, *SPLIT),
        "nodes.csv, row 1, column part: 'trian' is no part; use train, val, test or none",
    ),
    "no training": (
        tables(NODES.replace("train", "none"), None, *SPLIT),
        "nodes.csv, column part: no node is train",
    ),
    "no validation": (
        tables(
            "id,age,topic,part\n"
            + "".join(
                f"n{k},{k % 3},{'xy'[k % 2]},{'none' if k > 1 else 'train'}\n" for k in range(10)
            ),
            None,
            *SPLIT,
        ),
        "no node is val, and no class has a second training node to spare",
    ),
    "unlabelled training": (
        tables(swapped("20,A,x", "20,A,"), None, *SPLIT),
        "nodes.csv, row 1, column part: train, but the node has no label",
    ),
    "a wrong choice": (tables(None, None, "--missing", "median"), "--missing median: unknown; use"),
    "both ways": (tables(None, None, "--features", "age", "--all-numeric"), "disagree; give one"),
    "half a graph": (lambda folder: ("--nodes", "nodes.csv"), "--nodes alone is half a graph"),
    "two graphs": (lambda folder: ("cora", "--nodes", "nodes.csv"), "two graphs; give one of them"),
    "columns of cora": (lambda folder: ("cora", "--label", "y"), "cora is of the catalogue and"),
    "no graph": (lambda folder: (), "no graph given; name one of 'ppro data list' or a file"),
    # Parquet.
    "Parquet cut off": (parquet(-10), "nodes.parquet: not a readable Parquet file"),
    "not Parquet": (
        lambda folder: (
            *single("n.parquet", b"PAR1" + b"x" * 50 + b"PAR1")(folder)[1:],
            *("--nodes", "n.parquet", "--edges", "n.parquet"),
        ),
        "n.parquet: not a readable Parquet file",
    ),
    "lists": (parquet(x=[[1.0, 2.0]] * 6), "nodes.parquet, column x: cells of type list"),
    "bytes": (parquet(x=[b"x"] * 6), "nodes.parquet, column x: cells of type binary"),
    # npz: a zip archive.
    "not a zip": (single("g.npz", b"PK\x03\x04 but no"), "g.npz: not a readable npz file"),
    "npz cut off": (
        lambda folder: (
            npz()(folder),
            (folder / "g.npz").write_bytes((folder / "g.npz").read_bytes()[:300]),
            ("g.npz",),
        )[2],
        "g.npz: not a readable npz file",
    ),
    "a lie about a size": (lying(), "122 bytes that stand for 4,294,967,294 in memory"),
    "a bomb": (lambda folder: bomb(folder), "bytes, and PPro reads at most"),
    "path tricks": (zipped(("../../edges.npy", npy(ARRAYS["edges"]))), "'../../edges.npy' is no a"),
    "an absolute path": (zipped(("/etc/edges.npy", b"")), "'/etc/edges.npy' is no array"),
    "a member twice": (lambda folder: twice(folder), "array edges is there twice"),
    "many members": (zipped(*((f"a{k}.npy", b"") for k in range(200))), "200 members; a graph has"),
    "a pickle": (zipped(("edges.npy", pickle.dumps(Hostile()))), "array edges is damaged"),
    "an object array": (zipped(("edges.npy", objects())), "array edges holds object values"),
    "terabytes": (zipped(("edges.npy", claiming((2**40,)))), "array edges claims 8,796,093,022,"),
    "a long header": (zipped(("edges.npy", long_header())), "array edges is damaged"),
    "no features": (npz(node_features=None), "g.npz: no array node_features (or x), it has edges"),
    "NaN": (npz(node_features=np.full((6, 2), np.nan)), "g.npz: feature 0 of node 0 is nan; fill"),
    "an infinity": (npz(node_features=np.full((6, 2), np.inf)), "feature 0 of node 0 is inf"),
    "text features": (npz(node_features=np.full((6, 2), "a")), "node_features of shape (6, 2) and"),
    "labels of a float": (npz(node_labels=np.arange(6.0)), "node_labels of shape (6,) and type fl"),
    "a label of -3": (npz(node_labels=np.array([0, 1, -3, 0, 1, 0])), "label -3 of node 2 is neg"),
    "a huge label": (npz(node_labels=np.array([0, 2**60, 1, 0, 1, 0])), "of node 1; number the cl"),
    "labels of one class": (npz(node_labels=np.zeros(6, dtype=int)), "g.npz: only one class"),
    "too few labels": (npz(node_labels=np.array([0, 1])), "node_labels of shape (2,)"),
    "edges of three": (npz(edges=np.zeros((2, 3), dtype=int)), "edges of shape (2, 3) and type"),
    "an edge out of range": (npz(edges=np.array([[0, 9]])), "edge 0 joins 0 and 9, but nodes"),
    "an empty edge list": (npz(edges=np.zeros((0, 2), dtype=int)), "no edge between two different"),
    "wrong weights": (npz(edge_weights=np.array([1.0])), "edge_weights of shape (1,); give"),
    "overlapping masks": (
        npz(train_masks=FIRST, val_masks=FIRST, test_masks=THIRD),
        "split given: node 0 of run 0 is in more than one of train, val and test",
    ),
    "half the masks": (npz(train_masks=FIRST), "g.npz: a mask for train only; give train, val and"),
    "a short mask": (
        npz(train_masks=FIRST[:, :3], val_masks=SECOND, test_masks=THIRD),
        "g.npz: train mask of shape (1, 3) and type bool; give a truth value for each of the 6",
    ),
    "an empty mask": (
        npz(train_masks=FIRST & False, val_masks=SECOND, test_masks=THIRD),
        "split given: run 0 has no train node",
    ),
    "ids twice": (npz(node_ids=np.array(list("aabcde"))), "6 nodes but 5 distinct node ids"),
    # GraphML.
    "a billion laughs": (graphml(doctype=LAUGHS, x="&j;"), "declares a document type or entities"),
    "a file from outside": (
        graphml(doctype='<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>', x="&a;"),
        "declares a document type or entities",
    ),
    "a hidden doctype": (
        single("g.graphml", GRAPHML.format(doctype=LAUGHS, **BOTH).encode("utf-16")),
        "g.graphml",
    ),
    "GraphML cut off": (single("g.graphml", GRAPHML[:200]), "g.graphml: not a readable GraphML"),
    "GraphML of words": (graphml(x="many"), "g.graphml: not a readable GraphML file"),
    "a node twice": (graphml(second="a"), "g.graphml: node 'a' is there 2 times"),
    "an edge to nowhere": (graphml(end="zz"), "g.graphml: an edge names 'zz', which is no node"),
    "GraphML without graph": (single("g.graphml", "<graphml/>"), "g.graphml: not a readable Graph"),
    "HTML": (single("g.graphml", "<!DOCTYPE html><html></html>"), "declares a document type"),
    # safetensors.
    "not safetensors": (single("g.safetensors", b"\xff" * 64), "g.safetensors: not a readable"),
    "a torch pickle": (single("g.safetensors", pickle.dumps(Hostile())), "g.safetensors: not a re"),
    "wrong metadata": (tensors({"ppro": "{"}), "g.safetensors: its metadata are not those of form"),
    "another format": (tensors({"ppro": json.dumps({"format": 9})}), "metadata are not those of"),
    "no x": (tensors(x=None), "g.safetensors: no array node_features (or x)"),
    "wrong sparse features": (
        tensors(
            {"ppro": json.dumps({"format": 1, "num_features": 2})},
            **{
                "x": None,
                "x.crow_indices": torch.tensor([0, 9]),
                "x.col_indices": torch.tensor([7]),
                "x.values": torch.ones(1),
            },
        ),
        "g.safetensors: its sparse features are inconsistent",
    ),
}  # fmt: skip


def bomb(folder: Path) -> tuple[str, ...]:
    """Ten gigabytes of zeros in ten megabytes."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    chunk = b"\0" * 2**20
    packed = b"".join(deflate.compress(chunk) for _ in range(256)) + deflate.flush()
    with zipfile.ZipFile(folder / "g.npz", "w") as archive:
        for k in range(40):
            archive.writestr(f"a{k}.npy", packed)
        for member in archive.infolist():
            member.compress_type, member.file_size = zipfile.ZIP_DEFLATED, 2**28
    return ("g.npz",)


def twice(folder: Path) -> tuple[str, ...]:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(("edges.npy", b""), ("edges.npy", b""))(folder)


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("name", CORPUS)
def test_bad_input(ppro: Command, workplace: Path, name: str) -> None:
    make, told = CORPUS[name]
    words = make(workplace)
    before = everything(workplace)
    start = time.perf_counter()
    error = ppro("train", *words, "--runs", "1", "--set", "epochs=1").error
    assert time.perf_counter() - start < SLOWEST
    assert told in error
    assert "; " in error, "an error names a remedy"
    assert "executed" not in os.listdir(workplace)
    assert everything(workplace) == before


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("terabytes", ("train",)),
        ("a wrong number", ("data", "describe")),
        ("a billion laughs", ("train",)),
    ],
)
def test_bad_input_of_a_process(
    real_ppro: Command, workplace: Path, name: str, command: tuple[str, ...]
) -> None:
    make, told = CORPUS[name]
    assert told in real_ppro(*command, *make(workplace)).error


GOOD: dict[str, Make] = {
    "as it is": tables(),
    "a BOM": tables("\ufeff" + NODES, "\ufeff" + EDGES),
    "Windows": tables(NODES.replace("\n", "\r\n"), EDGES.replace("\n", "\r\n")),
    "semicolons": tables(NODES.replace(",", ";"), EDGES.replace(",", "\t")),
    "no last newline": tables(NODES[:-1], EDGES[:-1]),
    "a missing number": tables(swapped("23", "NA")),
    "an all-missing column": tables(
        "\n".join(f"{line},{'empty' if not k else ''}" for k, line in enumerate(NODES.splitlines()))
    ),
    "self-loops and duplicates": tables(None, EDGES + "n1,n1,1\nn1,n2,1\nn2,n1,1\n"),
    "a split": tables(None, None, *SPLIT, "--weight", "w"),
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_but_good_input(ppro: Command, workplace: Path, name: str) -> None:
    words = GOOD[name](workplace)
    ended = ppro("train", *words, "--runs", "1", "--set", "epochs=1", "--out", "run")
    assert ended.status == 0, ended.err
    assert len((workplace / "run/nodes.csv").read_text().splitlines()) == 11
