"""A run whose files have moved or must stay, and a new graph without edges."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import QUICK, Command
from tests.cli.test_own_graph import FILES, arrays, rows, write_tables

pytest.importorskip("pyarrow")


@pytest.fixture
def moved(ppro: Command, workplace: Path) -> tuple[Path, tuple[str, ...]]:
    """A run, and options that name its files in their new place."""
    write_tables(workplace)
    ended = ppro("train", *FILES, *QUICK, "--split-column", "part", "--out", "run")
    assert ended.status == 0, ended.err
    (workplace / "away").mkdir()
    for name in ("nodes.csv", "edges.csv"):
        (workplace / name).rename(workplace / "away" / name)
    return workplace / "run", ("--nodes", "away/nodes.csv", "--edges", "away/edges.csv")


def test_files_that_are_gone(ppro: Command, moved: tuple[Path, tuple[str, ...]]) -> None:
    run, _ = moved
    for words in (("predict", run), ("explain", run, "n3"), ("report", run)):
        error = ppro(*words).error
        assert "nodes.csv: No such file or directory; if it has moved, name the files with" in error


def test_the_same_files_in_another_place_are_the_graph_of_the_training(
    ppro: Command, moved: tuple[Path, tuple[str, ...]]
) -> None:
    run, files = moved
    assert ppro("predict", run, *files).status == 0
    assert (run / "predictions.csv").read_bytes() == (run / "nodes.csv").read_bytes()
    story = json.loads(ppro("explain", run, "n5", "--json", *files).out)
    assert story["split"] == "train"
    pytest.importorskip("plotly")
    assert ppro("report", run, *files, "--out", "r.html").status == 0


def test_a_single_file_that_has_moved(ppro: Command, workplace: Path) -> None:
    np.savez(workplace / "g.npz", **arrays())
    assert ppro("train", "g.npz", *QUICK, "--out", "run").status == 0
    (workplace / "g.npz").rename(workplace / "h.npz")
    assert "if it has moved, give it as GRAPH" in ppro("explain", "run", "3").error
    story = json.loads(ppro("explain", "run", "3", "h.npz", "--json").out)
    assert story["split"] != "none"


def test_a_new_graph_is_explained_too(ppro: Command, moved: tuple[Path, tuple[str, ...]]) -> None:
    run, _ = moved
    write_tables(run.parent / "new", nodes=45, start=1000)
    words = ("--nodes", "new/nodes.csv", "--edges", "new/edges.csv", "--json")
    assert json.loads(ppro("explain", run, "n1003", *words).out)["split"] == "none"


def test_a_new_graph_without_edges(ppro: Command, moved: tuple[Path, tuple[str, ...]]) -> None:
    run, _ = moved
    place = run.parent
    (place / "n.csv").write_text("id,kind,size\na,p,1\nb,q,2\n")
    (place / "e.csv").write_text("a,b\n")
    ended = ppro("predict", run, "--nodes", "n.csv", "--edges", "e.csv", "--out", "p.csv")
    assert ended.status == 0, ended.err
    assert [row["id"] for row in rows(place / "p.csv")] == ["a", "b"]


def test_a_new_file_without_edges(ppro: Command, workplace: Path) -> None:
    np.savez(workplace / "g.npz", **arrays())
    assert ppro("train", "g.npz", *QUICK, "--out", "run").status == 0
    np.savez(workplace / "new.npz", **arrays(edges=np.zeros((0, 2), dtype=np.int64)))
    ended = ppro("predict", "run", "new.npz", "--out", "p.csv")
    assert ended.status == 0, ended.err
    assert "no edge between two different nodes: each is predicted by itself" in ended.err
    assert "no edge between two different nodes" in ppro("train", "new.npz", *QUICK).error


def test_a_run_whose_columns_an_older_version_read_otherwise(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(workplace)
    nodes = workplace / "nodes.csv"
    nodes.write_text(nodes.read_text().replace(",,", ",?,").replace(",0.1,", ",?,"))
    with monkeypatch.context() as older:
        older.setattr("ppro.data.files.written_numbers.MARKS", set())
        words = (*FILES, *QUICK, "--split-column", "part", "--out", "run")
        assert ppro("train", *words).status == 0
    schema = json.loads((workplace / "run" / "schema.json").read_text(encoding="utf-8"))
    assert [column["kind"] for column in schema["columns"]] == ["categorical", "categorical"]
    assert ppro("predict", "run", "--out", "again.csv").status == 0
    assert rows(workplace / "again.csv") == rows(workplace / "run" / "nodes.csv")


@pytest.mark.parametrize("name", ["nodes.csv", "edges.csv", "new/nodes.csv", "some.csv"])
def test_nothing_that_is_read_is_written_over(ppro: Command, workplace: Path, name: str) -> None:
    write_tables(workplace)
    write_tables(workplace / "new", 40)
    (workplace / "some.csv").write_text("n3\n")
    assert ppro("train", *FILES, *QUICK, "--out", "run").status == 0
    before = (workplace / name).read_bytes()
    new = ("--nodes", "new/nodes.csv", "--edges", "new/edges.csv")
    asked: list[tuple[str, ...]] = [("predict", "run", *new, "--only", "some.csv", "--out")]
    if name != "some.csv":
        asked.append(("report", "run", *new, "--out"))
    if name in FILES:
        asked.append(("train", *FILES, *QUICK, "--out", "other", "--live"))
    for words in asked:
        error = ppro(*words, f"new/../{name}").error
        assert error.startswith(f"{words[-1]} new/../{name}: is read here, and would be lost; name")
        assert (workplace / name).read_bytes() == before
    assert not (workplace / "other").exists()
