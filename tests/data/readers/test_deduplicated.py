from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.data import load_graph, make_splits
from ppro.data.readers.npz import (
    first_of_their_kind,
    read_deduplicated,
    read_deduplicated_masks,
)


def star(path: Path) -> Path:
    """Leaves 1, 2, 3 and 5 around node 0; 1 and 3 are the same, 2 has another label, 4 is alone."""
    masks = np.eye(6, dtype=bool)[:3]
    np.savez(
        path,
        edges=np.array([[0, 1], [0, 2], [3, 0], [0, 5], [1, 0]]),
        node_features=np.arange(12).reshape(6, 2),
        node_labels=np.array([0, 1, 0, 1, 1, 1]),
        train_masks=masks,
        val_masks=masks[[1, 2, 0]],
        test_masks=masks[[2, 0, 1]],
    )
    return path


def test_later_twins_go(tmp_path: Path) -> None:
    path = star(tmp_path / "star.npz")
    raw = read_deduplicated(path)
    assert raw.labels.tolist() == [0, 1, 0, 1]
    assert raw.features.to_dense().tolist() == [[0, 1], [2, 3], [4, 5], [8, 9]]
    assert raw.edges.T.tolist() == [[0, 1], [0, 2], [1, 0]]
    assert read_deduplicated_masks(path).train.shape == (3, 4)


def test_neighbours_count_whatever_the_direction() -> None:
    edges = np.array([[0, 1], [2, 0]])
    assert first_of_their_kind(edges, np.array([0, 1, 1])).tolist() == [True, True, False]


@pytest.mark.data
def test_chameleon(real_data: Path) -> None:
    graph = load_graph("chameleon-deduplicated", data_root=real_data, offline=True)
    splits = make_splits(
        graph,
        graph.name,
        "geom-gcn-48-32-20",
        10,
        0,
        data_root=real_data,
        offline=True,
    )
    assert (graph.num_nodes, graph.num_edges) == (1229, 14611)
    parts = splits.train.int() + splits.val.int() + splits.test.int()
    assert bool((parts == 1).all())
