from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ppro.data.large import META, checks, is_large_folder, read_large
from ppro.errors import DataError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph

Change = Callable[[Any], Any]


def rewrite(folder: Path, name: str, change: Change) -> None:
    """Change an array and let ``meta.json`` agree with its new size."""
    np.save(folder / name, change(np.load(folder / name)))
    meta = json.loads((folder / META).read_text())
    meta["bytes"][name] = (folder / name).stat().st_size
    (folder / META).write_text(json.dumps(meta))


def with_value(index: Any, value: float) -> Change:
    def change(array: Any) -> Any:
        array[index] = value
        return array

    return change


def test_the_graph_is_the_one_that_graph_build_makes(folder: Path) -> None:
    graph, _ = read_large(folder)
    built = Graph.build("g", graph.edge_index, graph.features, graph.labels)
    assert torch.equal(built.edge_index, graph.edge_index)
    assert (built.num_nodes, built.num_edges) == (graph.num_nodes, graph.num_edges)
    assert (built.num_features, built.num_classes) == (graph.num_features, graph.num_classes)
    assert torch.equal(graph.rows.read(slice(7, 20)), graph.features[7:20])


def test_what_is_written_to_the_mapping_does_not_reach_the_file(folder: Path) -> None:
    graph, _ = read_large(folder)
    graph.features[0] = 7
    assert not bool((graph.features[0] == 7).any())


def test_a_folder_without_a_split_has_no_masks(folder: Path) -> None:
    (folder / "split.npy").unlink()
    meta = json.loads((folder / META).read_text())
    del meta["bytes"]["split.npy"]
    (folder / META).write_text(json.dumps(meta))
    graph, masks = read_large(folder)
    assert isinstance(graph, LargeGraph)
    assert masks is None


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("features.npy", with_value((3, 1), np.nan), "feature 1 of node 3 is nan"),
        ("features.npy", lambda x: x.astype(np.float64), "float64"),
        ("features.npy", np.asfortranarray, "by rows"),
        ("labels.npy", with_value(5, 3), "label 3 of node 5"),
        ("labels.npy", with_value(5, -2), "label -2 of node 5"),
        ("labels.npy", lambda x: x[:-1], "shape"),
        ("split.npy", with_value(9, 4), "part 4 of node 9"),
        ("indptr.npy", with_value(1, 10**9), "must rise"),
        ("indptr.npy", with_value(0, 1), "must rise"),
        ("indices.npy", with_value(0, 600), "neighbour 600 of node 0 is no node"),
        ("indices.npy", with_value(0, -1), "is no node"),
        ("indices.npy", with_value(0, 0), "is the node itself"),
        ("indices.npy", lambda x: np.concatenate([x[1:2], x[1:]]), "repeated or out of order"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, name: str, change: Change, message: str) -> None:
    rewrite(folder, name, change)
    with pytest.raises(DataError, match=message) as raised:
        read_large(folder)
    assert "\n" not in str(raised.value)


def test_an_edge_in_one_direction_only_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = np.load(folder / "indices.npy")
    missing = sorted(set(range(1, 600)) - set(columns[: np.load(folder / "indptr.npy")[1]]))
    rewrite(folder, "indices.npy", with_value(0, missing[0]))
    rewrite(folder, "indices.npy", lambda x: _sorted_first(folder, x))
    monkeypatch.setattr(checks, "BLOCK", 100)
    with pytest.raises(DataError, match="one direction only"):
        read_large(folder)


def _sorted_first(folder: Path, columns: Any) -> Any:
    end = np.load(folder / "indptr.npy")[1]
    columns[:end].sort()
    return columns


def test_a_file_cut_short_is_found_before_it_is_read(folder: Path) -> None:
    content = (folder / "features.npy").read_bytes()
    (folder / "features.npy").write_bytes(content[:-4])
    with pytest.raises(DataError, match="copy or make it again"):
        read_large(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "damaged"),
        ('{"version": 2}', "damaged, or of another version"),
        ("", "damaged"),
    ],
)
def test_a_damaged_description_is_named(folder: Path, text: str, message: str) -> None:
    (folder / META).write_text(text)
    with pytest.raises(DataError, match=message) as raised:
        read_large(folder)
    assert "\n" not in str(raised.value)


def test_the_description_cannot_name_files_elsewhere(folder: Path) -> None:
    meta = json.loads((folder / META).read_text())
    meta["bytes"]["../other.npy"] = 1
    (folder / META).write_text(json.dumps(meta))
    with pytest.raises(DataError, match="right files"):
        read_large(folder)


def test_pickled_objects_are_refused(folder: Path) -> None:
    rewrite(folder, "labels.npy", lambda x: x.astype(object))
    with pytest.raises(DataError, match=r"not a readable \.npy file"):
        read_large(folder)


def test_other_folders_are_not_taken_for_graphs(tmp_path: Path, folder: Path) -> None:
    assert is_large_folder(folder)
    assert not is_large_folder(tmp_path)
