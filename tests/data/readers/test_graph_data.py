from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ppro.data.readers import graph_data
from ppro.data.readers.graph_data import read_graph_data
from ppro.errors import DataError

ADJACENCY = sp.csr_matrix(np.array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]]))
FEATURES = sp.csr_matrix(np.eye(3, 5, dtype=np.float32))


def member(value: object, protocol: int = 3) -> bytes:
    """An object as NumPy stores it in an npz file."""
    array = np.empty((), dtype=object)
    array[()] = value
    return framed(pickle.dumps(array, protocol=protocol))


def framed(content: bytes, shape: str = "()") -> bytes:
    header = f"{{'descr': '|O', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def plain(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def written(path: Path, **changed: bytes) -> Path:
    members = {
        "adj_matrix": member(ADJACENCY),
        "node_attr": member(FEATURES),
        "node_label": plain(np.array([0, 1, 0])),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | changed).items():
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize("protocol", [3, 4])
def test_pickled_matrices(tmp_path: Path, protocol: int) -> None:
    matrices = {
        "adj_matrix": member(ADJACENCY, protocol),
        "node_attr": member(FEATURES, protocol),
    }
    graph = read_graph_data(written(tmp_path / "a.npz", **matrices))
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.features.to_dense().tolist() == FEATURES.toarray().tolist()
    assert graph.labels.tolist() == [0, 1, 0]


def test_the_names_of_older_and_newer_libraries(tmp_path: Path) -> None:
    old = member(FEATURES)
    for new, was in (
        (b"numpy._core.", b"numpy.core."),
        (b"scipy.sparse._csr", b"scipy.sparse.csr"),
    ):
        old = old.replace(new, was)
    graph = read_graph_data(written(tmp_path / "a.npz", node_attr=old))
    assert graph.features.to_dense().tolist() == FEATURES.toarray().tolist()


def test_a_plain_array_of_features(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", node_attr=plain(np.ones((3, 2), dtype=np.float32)))
    assert read_graph_data(path).features.to_dense().tolist() == [[1, 1]] * 3


class Hostile:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in (Hostile(), [Hostile()], {"data": Hostile()}):
        with pytest.raises(DataError, match=r"a\.npz"):
            read_graph_data(written(tmp_path / "a.npz", adj_matrix=member(value, protocol)))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"adj_matrix": framed(b"", "(3,)")}, r"holds \(3,\) objects instead of one matrix"),
        ({"adj_matrix": framed(b"")}, "not a pickle of arrays"),
        ({"adj_matrix": framed(pickle.dumps(3))}, "expected an array with one object"),
        ({"adj_matrix": member(3)}, "expected a SciPy CSR matrix"),
        ({"adj_matrix": b"nothing"}, "is not an array"),
        ({"adj_matrix": b"\x93NUMPY\x09\x00" + bytes(100)}, "is not an array|unknown version"),
        ({"node_label": plain(np.zeros(4, dtype=int))}, r"labels \(4,\) of int64 for 3 nodes"),
        ({"node_attr": member(sp.csr_matrix(np.eye(2)))}, "do not fit"),
    ],
)
def test_what_is_not_a_matrix_is_refused(
    tmp_path: Path, changed: dict[str, bytes], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        read_graph_data(written(tmp_path / "a.npz", **changed))


def test_a_member_that_is_missing_or_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "b.npz", node_label=np.zeros(3, dtype=int))
    with pytest.raises(DataError, match=r"adj_matrix\.npy is missing"):
        read_graph_data(tmp_path / "b.npz")
    monkeypatch.setattr(graph_data, "MAX_FILE_BYTES", 100)
    with pytest.raises(DataError, match=r"adj_matrix\.npy is larger than"):
        read_graph_data(written(tmp_path / "a.npz"))
