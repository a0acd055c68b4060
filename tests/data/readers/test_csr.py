from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ppro.data.readers.csr import read_csr_npz
from ppro.errors import DataError


def written(path: Path, **changed: Any) -> Path:
    matrices = {
        "adj": sp.csr_matrix(np.array([[0, 2.0, 0], [0, 0, 1.0], [0, 0, 1.0]])),
        "attr": sp.csr_matrix(np.eye(3, 4, dtype=np.float32)),
    }
    arrays: dict[str, Any] = {
        f"{name}_{part}": getattr(matrix, part)
        for name, matrix in matrices.items()
        for part in ("data", "indices", "indptr", "shape")
    }
    arrays["labels"] = np.array([0, 1, 0])
    np.savez(path, **(arrays | changed))
    return path


def test_an_entry_is_an_edge_whatever_its_value(tmp_path: Path) -> None:
    graph = read_csr_npz(written(tmp_path / "a.npz"))
    assert graph.edges.T.tolist() == [[0, 1], [1, 2], [2, 2]]
    assert graph.features.to_dense().tolist() == np.eye(3, 4).tolist()
    assert graph.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"adj_indices": np.array([1, 9, 2])}, "its matrix adj is inconsistent"),
        ({"adj_indices": np.array([1, -1, 2])}, "its matrix adj is inconsistent"),
        ({"adj_indptr": np.array([0, 2, 1, 3])}, "its matrix adj is inconsistent"),
        ({"adj_indptr": np.array([0, 1, 2])}, "its matrix adj is inconsistent"),
        ({"attr_indices": np.array([0.0, 1.0, 2.0])}, "its matrix attr is inconsistent"),
        ({"attr_data": np.array(["a", "b", "c"])}, "its matrix attr is inconsistent"),
        ({"attr_shape": np.array([3])}, "attr_shape is not that of a matrix"),
        ({"attr_shape": np.array([-3, 4])}, "attr_shape is not that of a matrix"),
        ({"adj_shape": np.array([3, 4])}, r"adjacency \(3, 4\) and features \(3, 4\) do not fit"),
        ({"labels": np.array([0, 1])}, r"labels \(2,\) of int64 for 3 nodes"),
        ({"labels": np.array([0.5, 1, 0])}, r"labels \(3,\) of float64"),
        ({"adj_data": np.array([{}, {}, {}], dtype=object)}, "not a readable npz"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=rf"a\.npz: .*{told}"):
        read_csr_npz(written(tmp_path / "a.npz", **changed))


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", labels=np.zeros(3, dtype=int))
    with pytest.raises(DataError, match="adj_data"):
        read_csr_npz(tmp_path / "a.npz")
