from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ppro.data.readers.wiki_cs import read_wiki_cs, read_wiki_cs_masks
from ppro.errors import DataError


def written(path: Path, **changed: Any) -> Path:
    content: dict[str, Any] = {
        "features": [[1.0, 0.5], [0.0, 2.0], [0.25, 1.0]],
        "labels": [0, 1, 0],
        "links": [[1, 2], [], [0]],
        "train_masks": [[True, False, False], [False, True, False]],
        "val_masks": [[False, True, False], [True, False, False]],
        "stopping_masks": [[False, False, False], [False, False, False]],
        "test_mask": [False, False, True],
    }
    path.write_text(json.dumps({k: v for k, v in (content | changed).items() if v is not None}))
    return path


def test_graph_and_masks(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json")
    graph = read_wiki_cs(path)
    assert graph.edges.T.tolist() == [[0, 1], [0, 2], [2, 0]]
    assert graph.features.to_dense().tolist() == [[1.0, 0.5], [0.0, 2.0], [0.25, 1.0]]
    masks = read_wiki_cs_masks(path)
    assert masks.train.tolist() == [[True, False, False], [False, True, False]]
    assert masks.test.tolist() == [[False, False, True]] * 2


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"features": None}, "features is missing"),
        ({"features": [[1.0], [2.0, 3.0], [1.0]]}, "features is not made of numbers"),
        ({"features": [1.0, 2.0, 3.0]}, "features has 1 dimensions instead of 2"),
        ({"labels": ["a", "b", "c"]}, "labels is not made of numbers"),
        ({"labels": [10**30, 1, 0]}, "labels is not made of numbers"),
        ({"links": [[1], [2]]}, r"features, labels and links of \(3, 3, 2\) nodes"),
        ({"links": [[1], 2, []]}, "links are not one list of nodes"),
        ({"links": [["a"], [], []]}, "links is not made of numbers"),
        ({"links": {"0": [1]}}, "links are not one list of nodes"),
    ],
)
def test_a_graph_that_is_none(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_wiki_cs(written(tmp_path / "a.json", **changed))


def test_masks_of_different_shapes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one row per split"):
        read_wiki_cs_masks(written(tmp_path / "a.json", test_mask=[True]))


@pytest.mark.parametrize("content", ["", "{", "[1]", "[" * 100_000, "\xff"])
def test_a_file_that_is_no_object_of_json(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content.encode("latin1"))
    with pytest.raises(DataError, match=r"a\.json: (not readable JSON|its JSON is not an object)"):
        read_wiki_cs(path)
