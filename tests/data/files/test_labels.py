"""Labels and columns beside them that do not mean what they seem to mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.errors import DataError
from tests.data.files.support import reading

pytest.importorskip("pyarrow")

EDGES = "source,target\n0,1\n"


def table(header: str, *columns: list[str], rows: int = 60) -> str:
    """Return a table of nodes with the column ``x``, further columns and the label ``topic``."""
    lines = (
        ",".join([str(k), str(k % 7 / 3), *(column[k % len(column)] for column in columns)])
        for k in range(rows)
    )
    return "\n".join([f"id,x,{header}", *lines]) + "\n"


def told(folder: Path, nodes: str) -> str:
    return "\n".join(reading(folder, nodes, EDGES).notes)


def test_minus_one_beside_other_classes_is_told_of(tmp_path: Path) -> None:
    note = "column topic: 20 cells of -1 are taken for nodes without a label; if -1 is a class"
    assert note in told(tmp_path, table("topic", ["-1", "0", "1"]))
    assert "cells of -1" not in told(tmp_path, table("topic", ["2", "0", "1"]))
    with pytest.raises(DataError, match=r"only the class '1' \(-1 is no class, but a node without"):
        reading(tmp_path, table("topic", ["-1", "1"]), EDGES)


def test_minus_one_beside_names_is_no_class_either(tmp_path: Path) -> None:
    nodes = table("topic", ["spam", "ham", "-1", "-1.0"])
    found = reading(tmp_path, nodes, EDGES)
    assert found.graph.class_names == ("ham", "spam")
    assert found.graph.labels[:4].tolist() == [1, 0, -1, -1]
    assert "column topic: 30 cells of -1 are taken for nodes without" in "\n".join(found.notes)


def test_names_with_digits_and_underscores_are_no_numbers(tmp_path: Path) -> None:
    found = reading(tmp_path, table("topic", ["1_11", "11_1", "3_1"]), EDGES)
    assert found.graph.class_names == ("11_1", "1_11", "3_1")


@pytest.mark.parametrize("name", ["?", "Unknown", "none"])
def test_classes_that_may_mean_no_label(tmp_path: Path, name: str) -> None:
    note = f"15 nodes are of a class {name!r}; if that means that their class is not known"
    assert note in told(tmp_path, table("topic", ["a", "b", "a", name]))


@pytest.mark.parametrize("cell", ["<NA>", "#N/A", "n/a"])
def test_cells_that_libraries_write_for_nothing(tmp_path: Path, cell: str) -> None:
    found = reading(tmp_path, table("y2,topic", ["1", cell, "3"], ["a", "b", cell]), EDGES)
    assert found.graph.class_names == ("a", "b")
    assert [column.kind for column in found.schema.columns] == ["numeric", "numeric"]


def test_classes_that_differ_in_case(tmp_path: Path) -> None:
    note = "classes 'Art' and 'art' differ in case alone and count as two"
    assert note in told(tmp_path, table("topic", ["art", "law", "Art"]))
    note = "classes 'New  York' and 'New York' differ in spaces alone and count as two"
    assert note in told(tmp_path, table("topic", ["New York", "law", "New  York"]))


def test_lists_of_labels_are_told_of(tmp_path: Path) -> None:
    names = ["\"['a', 'b']\"", "\"['a']\"", "\"['b']\""]
    assert "several labels a node (\"['a', 'b']\")" in told(tmp_path, table("topic", names))
    assert "several" not in told(tmp_path, table("topic", ["a (b)", "b (a)", "c"]))


def test_a_column_that_is_the_label_in_other_words_is_told_of(tmp_path: Path) -> None:
    codes, names = ["7", "9", "7", "4"], ["a", "b", "a", "c"]
    note = "column code: each of its 3 values has nodes of one class alone; if it is the label"
    assert note in told(tmp_path, table("code,topic", codes, names))
    finer = ["p", "q", "r", "s"]
    assert "column code: each of its 4" in told(tmp_path, table("code,topic", finer, names))
    assert "one class alone" not in told(tmp_path, table("code,topic", ["7", "9", "8"], names))
    # By chance: one rare node has a value of its own.
    rare = table("code,topic", [str(k) for k in range(10)], ["a"] * 59 + ["b"])
    rare = rare.replace(",9,b", ",10,b")
    assert "one class alone" not in told(tmp_path, rare)


def test_splits_and_masks_are_no_features(tmp_path: Path) -> None:
    parts, mask = ["train", "test", "val"], ["True", "False", "True"]
    nodes = table("part,train_mask,topic", parts, mask, ["a", "b"])
    found = reading(tmp_path, nodes, EDGES)
    assert [column.name for column in found.schema.columns] == ["x"]
    notes = "\n".join(found.notes)
    assert "part is left out: it reads like a split; --split-column 'part' trains with it" in notes
    assert "train_mask is left out: it reads like the mask of a split" in notes
    asked = reading(tmp_path, nodes, EDGES, add_features=("part",)).schema.columns
    assert [column.name for column in asked] == ["x", "part"]


@pytest.mark.parametrize(
    "words", [["train", "dev"], ["Train", "valid", "holdout"], ["train", "eval"]]
)
def test_splits_in_other_words_are_no_features(tmp_path: Path, words: list[str]) -> None:
    found = reading(tmp_path, table("part,topic", words, ["a", "b"]), EDGES)
    assert [column.name for column in found.schema.columns] == ["x"]
    notes = "\n".join(found.notes)
    if words[1] == "dev":
        assert "--split-column 'part' trains with it" in notes
    else:
        assert f"reads like a split; write val or test for {words[-1]!r} to train" in notes


def test_a_split_may_say_dev(tmp_path: Path) -> None:
    nodes = table("part,topic", ["train", "dev", "test"], ["a", "b"])
    masks = reading(tmp_path, nodes, EDGES, split_column="part").masks
    assert masks is not None
    assert masks.val[0, :4].tolist() == [False, True, False, False]


@pytest.mark.parametrize("name", ["fold", "Split", "is_train", "test", "VALID_mask"])
def test_columns_whose_names_say_that_they_part_the_nodes(tmp_path: Path, name: str) -> None:
    found = reading(tmp_path, table(f"{name},topic", ["0", "1"], ["a", "b", "c"]), EDGES)
    assert [column.name for column in found.schema.columns] == ["x"]
    assert f"column {name} is left out: it reads like the " in "\n".join(found.notes)
    scores = table(f"{name},topic", [str(k / 7) for k in range(30)], ["a", "b", "c"])
    assert len(reading(tmp_path, scores, EDGES).schema.columns) == 2
