from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.data.readers.planetoid import read_planetoid, read_public_masks
from ppro.errors import DataError


def test_test_rows_go_to_the_nodes_the_index_names(toy_planetoid: dict[str, Path]) -> None:
    graph = read_planetoid(toy_planetoid)
    features = graph.features.to_dense()
    assert features.shape == (509, 4)
    assert features[508].tolist() == [1, 0, 0, 0]
    assert features[505].tolist() == [0, 2, 0, 0]
    assert features[507].tolist() == [0, 0, 3, 0]
    assert graph.labels[[508, 505, 507]].tolist() == [1, 0, 1]


def test_a_node_missing_from_the_index_has_no_features_and_class_0(
    toy_planetoid: dict[str, Path],
) -> None:
    graph = read_planetoid(toy_planetoid)
    assert graph.features.to_dense()[506].tolist() == [0, 0, 0, 0]
    assert graph.labels[506] == 0


def test_edges_are_listed_as_in_the_file(toy_planetoid: dict[str, Path]) -> None:
    pairs = read_planetoid(toy_planetoid).edges.T.tolist()
    assert pairs == [[0, 1], [0, 1], [0, 0], [1, 0], [508, 2]]


def test_public_masks(toy_planetoid: dict[str, Path]) -> None:
    masks = read_public_masks(toy_planetoid)
    assert np.flatnonzero(masks.train).tolist() == [0, 1, 2]
    assert np.flatnonzero(masks.val).tolist() == list(range(3, 503))
    assert np.flatnonzero(masks.test).tolist() == [505, 507, 508]


@pytest.mark.parametrize("text", ["", "508\nx\n507\n", "508\n508\n507\n", "-1\n505\n507\n"])
def test_a_garbled_test_index(toy_planetoid: dict[str, Path], text: str) -> None:
    toy_planetoid["test.index"].write_text(text)
    with pytest.raises(DataError, match=r"test\.index"):
        read_planetoid(toy_planetoid)


@pytest.mark.parametrize("text", ["508\n505\n", "9\n505\n507\n", "508\n505\n900000000\n"])
def test_a_test_index_that_does_not_fit(toy_planetoid: dict[str, Path], text: str) -> None:
    toy_planetoid["test.index"].write_text(text)
    with pytest.raises(DataError, match="test"):
        read_planetoid(toy_planetoid)


def test_an_edge_to_nowhere(toy_planetoid: dict[str, Path]) -> None:
    body = toy_planetoid["graph"].read_bytes()
    toy_planetoid["graph"].write_bytes(body.replace(b"J\xfc\x01\x00\x00", b"J\xff\xff\xff\x00"))
    with pytest.raises(DataError, match=r"graph.*leaves the 509 nodes"):
        read_planetoid(toy_planetoid)
