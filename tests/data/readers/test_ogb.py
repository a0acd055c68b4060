from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from ppro.data.readers import ogb
from ppro.data.readers.ogb import read_ogb, read_ogb_masks
from ppro.errors import DataError


def written(path: Path, **changed: bytes | None) -> Path:
    members: dict[str, bytes | None] = {
        "raw/edge": b"0,1\n1,2\n",
        "raw/node-feat": b"0.5,-1\n0,0\n1e-3,2\n",
        "raw/node-label": b"0\n1\n0\n",
        "split/time/train": b"0\n",
        "split/time/valid": b"1\n",
        "split/time/test": b"2\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | changed).items():
            if content is not None:
                packed = content if content[:2] == b"!!" else gzip.compress(content)
                archive.writestr(f"arxiv/{name}.csv.gz", packed)
    return path


def test_graph_and_split(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip")
    graph = read_ogb(path)
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.features.to_dense()[:, 1].tolist() == [-1, 0, 2]
    assert graph.labels.tolist() == [0, 1, 0]
    masks = read_ogb_masks(path)
    assert [part.tolist() for part in (masks.train, masks.val, masks.test)] == [
        *([[True, False, False]], [[False, True, False]], [[False, False, True]])
    ]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"raw/edge": None}, r"arxiv/raw/edge\.csv\.gz is missing"),
        ({"raw/edge": b"!! not packed"}, "cannot be unpacked"),
        ({"raw/edge": b"0,x\n"}, "is not a table of numbers"),
        ({"raw/edge": b"0,1\n1\n"}, "is not a table of numbers"),
        ({"raw/edge": b"0,1,2\n"}, "no graph"),
        ({"raw/node-label": b"0\n"}, "no graph"),
    ],
)
def test_a_graph_that_is_none(tmp_path: Path, changed: dict[str, bytes | None], told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_ogb(written(tmp_path / "a.zip", **changed))


@pytest.mark.parametrize("nodes", [b"3\n", b"-1\n", b"0,1\n"])
def test_a_split_of_other_nodes(tmp_path: Path, nodes: bytes) -> None:
    with pytest.raises(DataError, match="names nodes that are none of the 3"):
        read_ogb_masks(written(tmp_path / "a.zip", **{"split/time/valid": nodes}))


def test_a_table_that_unpacks_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ogb, "MAX_UNPACKED_BYTES", 20)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_ogb(written(tmp_path / "a.zip", **{"raw/edge": b"0,1\n" * 1000}))


def test_no_archive_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_ogb(tmp_path / "a.zip")
