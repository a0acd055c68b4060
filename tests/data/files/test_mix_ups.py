"""Numbers that begin elsewhere and files in each other's place: told of, with the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data.files import FileSource, read_source
from ppro.errors import DataError
from tests.data.files.support import reading, written
from tests.data.files.test_as_they_are import PLAIN, told

pytest.importorskip("pyarrow")


def test_edges_that_count_from_one(tmp_path: Path) -> None:
    nodes = "x,topic\n5,a\n6,b\n5,a\n7,b\n"
    with pytest.raises(
        DataError, match="row 2, column target: the edges count from 1 and the nodes"
    ):
        reading(tmp_path, nodes, "source,target\n1,2\n3,4\n")
    with pytest.raises(DataError, match="no node has the id '4'"):
        reading(tmp_path, nodes, "source,target\n0,2\n3,4\n")
    note = "numbered by their rows, from 0, and no edge names 0; if the edges count from 1, give"
    assert note in told(tmp_path, nodes, "source,target\n1,2\n2,3\n")
    assert note not in told(tmp_path, nodes, "source,target\n0,2\n2,3\n")


def test_tables_that_are_swapped(tmp_path: Path) -> None:
    first, second = written(tmp_path, "Source,Target\n0,1\n", PLAIN)
    with pytest.raises(DataError, match="--nodes and --edges may be swapped"):
        read_source(FileSource(nodes=str(first), edges=str(second)))


def test_a_column_is_found_among_many_and_in_any_case(tmp_path: Path) -> None:
    names = [f"f{k}" for k in range(40)]
    nodes = ",".join(["id", *names, "Topic"]) + "\n0" + ",1" * 40 + ",a\n1" + ",2" * 40 + ",b\n"
    with pytest.raises(DataError, match=r"no column 'topic'; did you mean 'Topic'\?"):
        reading(tmp_path, nodes, "source,target\n0,1\n")
    with pytest.raises(DataError, match=r"no column '\?'; valid: id, f0, .*, f18 …$"):
        reading(tmp_path, nodes, "source,target\n0,1\n", label="?")


def test_a_new_graph_without_the_weights_of_the_training(tmp_path: Path) -> None:
    schema = reading(tmp_path, PLAIN, "source,target,weight\n0,1,2\n").schema
    with pytest.raises(DataError, match="no column 'weight', which weighs the edges of the train"):
        reading(tmp_path, PLAIN, "source,target\n0,1\n", schema)


def test_one_column_for_both_ends(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--source and --target both name 'target'; an edge has"):
        reading(tmp_path, source="target", target="target", edges="source,target\n0,1\n")


def test_a_column_of_ids_as_label(tmp_path: Path) -> None:
    nodes = "id,x\n" + "".join(f"n{k},{k % 7}\n" for k in range(20))
    note = "column id: 20 different values for 20 labelled nodes: hardly any class can be learned"
    assert note in told(tmp_path, nodes, "source,target\nn0,n1\n", label="id")
