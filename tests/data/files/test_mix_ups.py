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
