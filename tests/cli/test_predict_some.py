"""Predictions of some nodes, and predictions as Parquet, from the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pq = pytest.importorskip("pyarrow.parquet")

TRAIN = ("--set", "form=class", "--set", "epochs=3", "--set", "max_steps=2", "--runs", "2")
SMALL = ("--nodes", "600", "--degree", "2", "--classes", "3", "--features", "4", "--train", "0.4")


@pytest.fixture
def run(ppro: Command) -> Path:
    assert ppro("data", "generate", "big", *SMALL).status == 0
    ended = ppro("train", "big", *TRAIN, "--out", "run")
    assert ended.status == 0, ended.err
    return Path("run")


def table(path: str) -> dict[str, dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_parquet_comes_in_row_groups_and_says_what_the_csv_says(
    ppro: Command, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppro.runs.nodetable.PART", 250)
    assert ppro("predict", run, "--out", "all.csv").status == 0
    assert ppro("predict", run, "--out", "all.parquet").status == 0
    file = pq.ParquetFile("all.parquet")
    sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    assert sizes == [250, 250, 100]
    told = table("all.csv")
    assert file.schema_arrow.names == list(told["0"])
    for row in file.read().to_pylist():
        expected = told[row["id"]]
        for text in ("label", "predicted", "split"):
            assert row[text] == expected[text]
        assert row["step"] == int(expected["step"])
        for number in ("probability", "priority", "p_0", "p_1", "p_2"):
            assert row[number] == pytest.approx(float(expected[number]), rel=1e-5)


def test_some_nodes_are_told_as_among_all(ppro: Command, run: Path) -> None:
    assert ppro("predict", run, "--out", "all.csv").status == 0
    ended = ppro("predict", run, "--only", "599, 3,3,17", "--out", "some.csv")
    assert ended.status == 0, ended.err
    words = ended.out.splitlines()[0].split()
    assert words[2:4] == ["3", "nodes,"]
    assert 3 < int(words[4]) < 300
    assert words[5:8] == ["of", "600", "propagated,"]
    everything, found = table("all.csv"), table("some.csv")
    assert list(found) == ["599", "3", "17"]
    for node, row in found.items():
        for column, text in row.items():
            try:
                assert float(text) == pytest.approx(float(everything[node][column]), abs=1e-5)
            except ValueError:
                assert text == everything[node][column]


def test_ids_may_come_from_a_file_and_go_to_parquet(ppro: Command, run: Path) -> None:
    Path("wanted.txt").write_text("\ufeff5\n\n 590 \n", encoding="utf-8")
    ended = ppro("predict", run, "--only", "wanted.txt", "--run", "1", "--out", "some.parquet")
    assert ended.out.startswith("run 1: 2 nodes")
    assert pq.read_table("some.parquet")["id"].to_pylist() == ["5", "590"]


def test_the_tables_own_ids_are_known(ppro: Command) -> None:
    Path("n.csv").write_text(
        "id,x,label\n" + "".join(f"n{i},{i % 7},{i % 2}\n" for i in range(40)), encoding="utf-8"
    )
    Path("e.csv").write_text(
        "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(39)), encoding="utf-8"
    )
    files = ("--nodes", "n.csv", "--edges", "e.csv")
    assert ppro("train", *files, *TRAIN, "--out", "own").status == 0
    assert ppro("predict", "own", "--only", "n7,n30", "--out", "some.csv").status == 0
    assert list(table("some.csv")) == ["n7", "n30"]
    error = ppro("predict", "own", "--only", "n7,7", "--out", "no.csv").error
    assert "1 of 2 ids are of no node of n, the first '7'" in error
    assert "did you mean 'n7'?" in error


def test_a_long_list_of_ids_is_no_file(ppro: Command, run: Path) -> None:
    many = ",".join(str(node) for node in range(600))
    assert len(many) > 2000
    assert ppro("predict", run, "--only", many, "--out", "some.csv").status == 0


def test_ids_that_are_none(ppro: Command, run: Path) -> None:
    def error(only: str) -> str:
        return ppro("predict", run, "--only", only, "--out", "no.csv").error

    assert "the first '600'; ids are 0 to 599" in error("3,600")
    assert "the first '-1'" in error("-1,x")
    assert "names no node" in error(" , ")
    Path("bytes").write_bytes(b"\xff\xfe")
    assert "cannot be read as text" in error("bytes")
    assert not Path("no.csv").exists()
