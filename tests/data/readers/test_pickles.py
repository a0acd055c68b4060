from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ppro.data.readers.pickles import read_adjacency, read_array, read_csr
from ppro.errors import DataError

READERS = (read_array, read_csr, read_adjacency)


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.marker}",)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("reader", READERS)
def test_a_hostile_pickle_runs_nothing(tmp_path: Path, protocol: int, reader: Any) -> None:
    marker, path = tmp_path / "marker", tmp_path / "ind.cora.x"
    path.write_bytes(pickle.dumps(Hostile(marker), protocol))
    with pytest.raises(DataError, match=r"ind\.cora\.x"):
        reader(path)
    assert not marker.exists()
    pickle.loads(path.read_bytes())
    assert marker.exists(), "the pickle of this test is not hostile"


@pytest.mark.parametrize(
    "body",
    [
        b"cbuiltins\neval\n(U\x031+1tR",
        b"cnumpy\nload\n(U\x01atR",
        b"cnumpy.core.multiarray\nfromfile\n(U\x01atR",
        b"ios\nsystem\n(U\x01at",
        b"\x8c\x02os\x8c\x06system\x93",
    ],
)
def test_names_and_opcodes_outside_the_list_are_refused(
    tmp_path: Path, pickler: Any, body: bytes
) -> None:
    with pytest.raises(DataError, match="not a pickle of arrays"):
        read_array(pickler.write(tmp_path / "bad", body))


def test_a_giant_memo_key_is_refused_before_it_is_allocated(tmp_path: Path, pickler: Any) -> None:
    path = pickler.write(tmp_path / "bad", b"Nr" + struct.pack("<I", 2**32 - 1))
    with pytest.raises(DataError, match="memo key"):
        read_array(path)


def test_a_giant_shape_is_refused(tmp_path: Path, pickler: Any) -> None:
    body = pickler.array(np.zeros(3, dtype="<f4"))
    huge = body.replace(b"J\x03\x00\x00\x00", b"J\xff\xff\xff\x7f")
    with pytest.raises(DataError, match="12 bytes"):
        read_array(pickler.write(tmp_path / "bad", huge))


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i4", "<i8"])
def test_arrays_come_back_equal(tmp_path: Path, pickler: Any, dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    read = read_array(pickler.write(tmp_path / "array", pickler.array(array)))
    np.testing.assert_array_equal(read, array)
    assert read.dtype == array.dtype


def test_matrices_come_back_equal(tmp_path: Path, pickler: Any) -> None:
    matrix = sp.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 3]]))
    read = read_csr(pickler.write(tmp_path / "csr", pickler.csr(matrix)))
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_neighbour_lists_come_back_equal(tmp_path: Path, pickler: Any) -> None:
    lists = {0: [1, 2], 2: [], 1: [0]}
    assert read_adjacency(pickler.write(tmp_path / "graph", pickler.lists(lists))) == lists


@pytest.mark.parametrize("length", [0, 1, 10, 60, 150, -1])
def test_a_truncated_file_is_an_error_that_names_it(
    tmp_path: Path, pickler: Any, length: int
) -> None:
    path = pickler.write(tmp_path / "cut", pickler.csr(sp.csr_matrix(np.eye(3))))
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DataError, match="cut"):
        read_csr(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("indices", [0, 1, 3]), ("indices", [0, -1, 2]), ("indptr", [0, 2, 1, 3]), ("indptr", [0, 3])],
)
def test_an_inconsistent_matrix_is_refused(
    tmp_path: Path, pickler: Any, key: str, value: list[int]
) -> None:
    changed = {key: pickler.array(np.array(value, dtype="<i4"))}
    body = pickler.csr(sp.csr_matrix(np.eye(3)), **changed)
    with pytest.raises(DataError, match="inconsistent"):
        read_csr(pickler.write(tmp_path / "bad", body))


@pytest.mark.parametrize("reader", READERS)
def test_another_kind_of_content_is_refused(tmp_path: Path, pickler: Any, reader: Any) -> None:
    with pytest.raises(DataError, match="expected"):
        reader(pickler.write(tmp_path / "list", b"]K\x01a"))
