"""Columns of text that people mean as numbers, and cells that mean nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.data.files import Reading
from ppro.data.files.schema import NumericColumn
from tests.data.files.support import reading

pytest.importorskip("pyarrow")

EDGES = "source,target\n0,1\n"
ROWS = 40


def read(folder: Path, *cells: str) -> Reading:
    """Read nodes whose column ``v`` holds the cells in turn, beside a number ``x``."""
    quoted = [f'"{cell}"' for cell in cells]
    rows = (f"{k},{k % 7 / 3},{quoted[k % len(cells)]},{'ab'[k % 2]}" for k in range(ROWS))
    nodes = "\n".join(["id,x,v,topic", *rows]) + "\n"
    return reading(folder, nodes, EDGES, scale="none")


def values(found: Reading) -> list[float]:
    """Return the first feature that ``v`` makes, of the first rows."""
    return [round(value, 3) for value in found.graph.features.to_dense()[:4, 1].tolist()]


def told(found: Reading) -> str:
    return "\n".join(found.notes)


@pytest.mark.parametrize("mark", ["None", "-", "?", "–", "n.a.", "unknown", "#DIV/0!", " ", " NA "])
def test_marks_among_numbers_mean_a_missing_one(tmp_path: Path, mark: str) -> None:
    found = read(tmp_path, "1.5", mark, "3", "4.5")
    column = found.schema.columns[1]
    assert isinstance(column, NumericColumn)
    assert column.indicator
    assert values(found) == [1.5, 3, 3, 4.5]
    is_told = f"column v: cells such as {mark!r} are taken as missing"
    assert (is_told in told(found)) == bool(mark.strip() not in ("", "NA"))


def test_marks_among_texts_stay_categories(tmp_path: Path) -> None:
    assert read(tmp_path, "7", "red", "-").schema.feature_names == [
        "x",
        "v = -",
        "v = 7",
        "v = red",
    ]


@pytest.mark.parametrize("blank", [" ", " NA "])
def test_blank_cells_among_texts_are_missing(tmp_path: Path, blank: str) -> None:
    names = read(tmp_path, "red", blank, "blue").schema.feature_names
    assert names == ["x", "v = blue", "v = red", "v is missing"]


@pytest.mark.parametrize(
    ("cells", "expected", "note"),
    [
        (["12%", "7.5 %", "-3%"], [12, 7.5, -3, 12], "column v: the numbers are read without"),
        (["$12", "-$7.5", "$ 3"], [12, -7.5, 3, 12], "without their '$'"),
        (["12 €", "7,5 €", "3 €"], [12, 7.5, 3, 12], "without their '€'"),
        (["1,234.5", "12", "3,000"], [1234.5, 12, 3000, 1234.5], "thousands are parted"),
        (["1,234,567", "12", "3,000"], [1234567, 12, 3000, 1234567], "thousands are parted"),
        (["1.234,5", "12", "3.000"], [1234.5, 12, 3000, 1234.5], "thousands are parted"),
        (["1 234", "12", "3\u00a0000"], [1234, 12, 3000, 1234], "thousands are parted"),
        (["1'234.5", "12", "-3'000"], [1234.5, 12, -3000, 1234.5], "thousands are parted"),
    ],
)
def test_numbers_as_people_write_them(
    tmp_path: Path, cells: list[str], expected: list[float], note: str
) -> None:
    found = read(tmp_path, *cells)
    assert values(found) == expected
    assert note in told(found)


@pytest.mark.parametrize(
    "cells",
    [["12%", "0.12"], ["$5", "€6"], ["01.02.2024", "02.02.2024"], ["1.2.3", "1.2.4"], ["1,234"]],
    ids=["share", "currencies", "date", "version", "ambiguous"],
)
def test_texts_that_may_mean_something_else_stay_texts(tmp_path: Path, cells: list[str]) -> None:
    found = read(tmp_path, *cells, *cells)
    assert found.schema.feature_names == ["x", *(f"v = {cell}" for cell in sorted(cells))]


def test_a_new_graph_is_read_in_the_same_way(tmp_path: Path) -> None:
    schema = read(tmp_path, "12%", "-", "7%").schema
    nodes = "id,x,v,topic\n0,1,9%,a\n1,2,?,b\n"
    new = reading(tmp_path, nodes, EDGES, schema)
    np.testing.assert_allclose(new.graph.features.to_dense()[:, 2].tolist(), [0, 1])
    assert new.graph.features.to_dense()[0, 1] == 9
    new = reading(tmp_path, nodes.replace("9%", "-"), EDGES, schema)
    assert new.graph.features.to_dense()[:, 2].tolist() == [1, 1]
