from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ppro.data.readers import npz
from ppro.errors import DataError


def written(path: Path, **changed: Any) -> Path:
    arrays: dict[str, Any] = {
        "edges": np.array([[0, 1], [1, 2]]),
        "node_features": np.eye(3, dtype=np.float32),
        "node_labels": np.array([0, 1, 0]),
        "train_masks": np.eye(3, dtype=bool)[:2],
        "val_masks": np.eye(3, dtype=bool)[1:],
        "test_masks": np.zeros((2, 3), dtype=bool),
    }
    np.savez(path, **(arrays | changed))
    return path


def test_graph_and_masks(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz")
    graph = npz.read_npz(path)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.features.to_dense().tolist() == np.eye(3).tolist()
    assert npz.read_npz_masks(path).val.tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize(
    "changed",
    [
        {"edges": np.zeros((2, 3), dtype=int)},
        {"edges": np.zeros((2, 2))},
        {"node_labels": np.zeros(2, dtype=int)},
        {"node_labels": np.array([{}, {}, {}], dtype=object)},
    ],
)
def test_wrong_arrays_are_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"a\.npz"):
        npz.read_npz(written(tmp_path / "a.npz", **changed))


def test_masks_of_different_shapes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one row per split"):
        npz.read_npz_masks(written(tmp_path / "a.npz", val_masks=np.zeros((1, 3), dtype=bool)))


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", edges=np.zeros((0, 2), dtype=int))
    with pytest.raises(DataError, match="node_features"):
        npz.read_npz(tmp_path / "a.npz")


def test_a_truncated_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match="not a readable npz"):
        npz.read_npz(path)


def test_an_archive_that_unpacks_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(DataError, match="unpacks to more than"):
        npz.read_npz(written(tmp_path / "a.npz"))
