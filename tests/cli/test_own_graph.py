"""Training, predicting and describing a graph from the user's files."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ppro.search.choice import fitting_norm
from tests.cli.conftest import QUICK, Command, everything

pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FILES = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
TOPICS = ("art", "law", "sea")


def write_tables(folder: Path, nodes: int = 60, start: int = 0) -> None:
    """A ring with chords: neighbours mostly share a topic, every tenth node has no label."""
    folder.mkdir(exist_ok=True)
    rows = ["id,size,kind,part,topic"]
    for k in range(start, start + nodes):
        c = 3 * (k - start) // nodes
        topic = "" if k % 10 == 3 else TOPICS[c]
        part = "none" if not topic else ("train", "val", "test", "train", "train")[k % 5]
        size = "" if k % 17 == 5 else f"{c + k % 7 / 10:.1f}"
        rows.append(f"n{k},{size},{'pq'[k % 2]},{part},{topic}")
    ends = [(k, start + (k - start + 1) % nodes) for k in range(start, start + nodes)]
    ends += [(k, k + 2) for k in range(start, start + nodes - 2)]
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n")
    (folder / "edges.csv").write_text("a,b\n" + "".join(f"n{u},n{v}\n" for u, v in ends))


@pytest.fixture
def run(ppro: Command, workplace: Path) -> Path:
    write_tables(workplace)
    ended = ppro("train", *FILES, *QUICK, "--split-column", "part", "--out", "run")
    assert ended.status == 0, ended.err
    return workplace / "run"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_from_tables_holds_its_files_and_its_schema(run: Path) -> None:
    config = tomllib.loads((run / "settings.toml").read_text(encoding="utf-8"))
    assert config["split"] == "given"
    assert config["settings"]["inputs"]["feature_norm"] == "none"
    assert config["source"]["nodes"] == str(run.parent / "nodes.csv")
    assert len(config["source"]["sha256"]) == 2
    assert "paper" not in config
    schema = json.loads((run / "schema.json").read_text(encoding="utf-8"))
    assert schema["class_names"] == list(TOPICS)
    assert [column["name"] for column in schema["columns"]] == ["size", "kind"]
    table = rows(run / "nodes.csv")
    assert [row["id"] for row in table] == [f"n{k}" for k in range(60)]
    assert {row["split"] for row in table if not row["label"]} == {"none"}
    given = rows(run.parent / "nodes.csv")
    assert [row["split"] for row in table] == [row["part"] for row in given]
    for row in table:
        assert row["predicted"] in TOPICS
        assert float(row["probability"]) == float(row[f"p_{row['predicted']}"])


def test_the_split_of_the_files_can_be_left_aside(ppro: Command, run: Path) -> None:
    words = ("train", *FILES, "--split-column", "part", "--runs", "1", "--set", "epochs=1")
    facts = json.loads(ppro(*words, "--split", "random-60-20-20", "--json").out)
    assert facts["split"] == "random-60-20-20"
    error = ppro(*words, "--split", "public").error
    assert "has no split 'public'; it has given, random-60-20-20" in error


def test_a_recipe_lends_settings_only(ppro: Command, run: Path) -> None:
    words = ("train", *FILES, "--runs", "1", "--set", "epochs=1", "--recipe", "texas-l2b")
    facts = json.loads(ppro(*words, "--json").out)
    assert facts["paper"] is None
    assert facts["split"] == "random-60-20-20"


def test_predict_repeats_the_table(ppro: Command, run: Path) -> None:
    ended = ppro("predict", run)
    assert ended.status == 0, ended.err
    assert "test accuracy" in ended.out
    assert (run / "predictions.csv").read_bytes() == (run / "nodes.csv").read_bytes()


def test_predict_writes_parquet(ppro: Command, run: Path, workplace: Path) -> None:
    assert ppro("predict", run, "--out", "p.parquet").status == 0
    table = pq.read_table(workplace / "p.parquet").to_pydict()
    for column, cells in zip(*_columns(run / "nodes.csv"), strict=True):
        if column in ("id", "label", "predicted", "split"):
            assert table[column] == cells
        else:
            assert table[column] == pytest.approx([float(cell) for cell in cells], rel=1e-5)


def _columns(path: Path) -> tuple[list[str], list[list[str]]]:
    table = rows(path)
    return list(table[0]), [[row[name] for row in table] for name in table[0]]


def test_a_changed_file_is_told_of(ppro: Command, run: Path, workplace: Path) -> None:
    with (workplace / "edges.csv").open("a") as file:
        file.write("n0,n30\n")
    ended = ppro("predict", run)
    assert ended.status == 0
    assert f"{workplace / 'edges.csv'} has changed since the training: taken as a new" in ended.err
    assert "accuracy" in ended.out
    assert "on the 54 with a label" in ended.out
    assert {row["split"] for row in rows(run / "predictions.csv")} == {"none"}
    (workplace / "edges.csv").unlink()
    assert "edges.csv: No such file or directory" in ppro("predict", run).error


def test_a_new_graph(ppro: Command, run: Path, workplace: Path) -> None:
    write_tables(workplace / "new", nodes=45, start=1000)
    words = ("--nodes", "new/nodes.csv", "--edges", "new/edges.csv", "--out", "p.csv")
    ended = ppro("predict", run, *words)
    assert ended.status == 0, ended.err
    assert "column size: 3 missing values become the mean of the column" in ended.err
    table = rows(workplace / "p.csv")
    assert [row["id"] for row in table] == [f"n{k}" for k in range(1000, 1045)]
    assert {row["split"] for row in table} == {"none"}
    assert ppro("predict", run, *words, "--run", "1").out.startswith("run 1: 45 nodes, accuracy")


def test_a_new_graph_without_labels(ppro: Command, run: Path, workplace: Path) -> None:
    (workplace / "n.csv").write_text("id,kind,size\na,p,1\nb,new,2\n")
    (workplace / "e.csv").write_text("a,b\na,b\n")
    ended = ppro("predict", run, "--nodes", "n.csv", "--edges", "e.csv", "--out", "p.csv")
    assert ended.status == 0, ended.err
    assert "none with a label to compare with" in ended.out
    assert "column kind: 1 cells: categories unseen in training get no feature" in ended.err


def test_what_predict_cannot_do(ppro: Command, run: Path, workplace: Path) -> None:
    (workplace / "n.csv").write_text("id,size,topic\na,1,art\nb,2,law\n")
    (workplace / "e.csv").write_text("a,b\na,b\n")
    np.savez(workplace / "g.npz", x=np.eye(2), edges=np.array([[0, 1]]))
    pair = ("--nodes", "n.csv", "--edges", "e.csv")
    before = everything(workplace)
    assert "n.csv: no column 'kind', which is one of the 2" in ppro("predict", run, *pair).error
    assert "--nodes alone is half a graph" in ppro("predict", run, "--nodes", "n.csv").error
    assert "two graphs; give one" in ppro("predict", run, "g.npz", *pair).error
    assert "the run was trained on columns (size, kind …)" in ppro("predict", run, "g.npz").error
    assert "let it end in .csv or .parquet" in ppro("predict", run, "--out", "p.xlsx").error
    assert everything(workplace) == before


@pytest.mark.parametrize("damage", ["{", None])
def test_a_damaged_schema(ppro: Command, run: Path, workplace: Path, damage: str | None) -> None:
    write_tables(workplace / "new")
    words = ("--nodes", "new/nodes.csv", "--edges", "new/edges.csv")
    (run / "schema.json").unlink()
    if damage is not None:
        (run / "schema.json").write_text(damage)
    assert "train again" in ppro("predict", run, *words).error


def test_a_run_of_the_catalogue_takes_no_files(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    assert ppro("train", "csbm", *QUICK, "--out", "run").status == 0
    error = ppro("predict", "run", *FILES[:4]).error
    assert "trained on the graph csbm of the catalogue, whose features have no names" in error
    assert "'ppro data export csbm'" in error


def arrays(**more: Any) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    labels = np.arange(40) % 2
    features = generator.random((40, 4)) + labels[:, None]
    edges = np.array([(k, (k + 2) % 40) for k in range(40)])
    return {"node_features": features, "node_labels": labels, "edges": edges, **more}


def test_an_npz_file(ppro: Command, workplace: Path) -> None:
    np.savez(workplace / "cora.npz", **arrays())
    ended = ppro("train", "cora.npz", *QUICK, "--json")
    facts = json.loads(ended.out)
    assert (facts["dataset"], facts["split"]) == ("cora", "random-60-20-20")
    assert facts["paper"] is None, "it is not the Cora of the paper"
    np.savez(workplace / "new.npz", **arrays(node_labels=1 - np.arange(40) % 2))
    ended = ppro("predict", facts["out"], "new.npz")
    assert "on the 40 with a label" in ended.out


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        pytest.param(12, [(0, 1)], id="one edge"),
        pytest.param(12, [(k, k + 6) for k in range(6)], id="matching"),
        pytest.param(12, [(k, j) for k in range(6) for j in range(6, 12)], id="bipartite"),
        pytest.param(12, [(0, k) for k in range(1, 12)], id="star"),
        pytest.param(12, [(0, 1), (1, 2), (0, 2), (6, 7)], id="isolated nodes"),
    ],
)
@pytest.mark.parametrize("constant", [True, False])
def test_odd_graphs_give_finite_numbers(
    ppro: Command,
    workplace: Path,
    nodes: int,
    edges: list[tuple[int, int]],
    constant: bool,
    strategy: str,
) -> None:
    rows_ = "".join(f"{k},{1 if constant else k},{'uv'[k % 2]}\n" for k in range(nodes))
    (workplace / "nodes.csv").write_text("id,x,topic\n" + rows_)
    (workplace / "edges.csv").write_text("a,b\n" + "".join(f"{u},{v}\n" for u, v in edges))
    ended = ppro("train", *FILES, *QUICK, "--strategy", strategy, "--out", "run")
    assert ended.status == 0, ended.err
    _check_finite(workplace / "run/nodes.csv")


def test_a_class_absent_from_training(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    text = (workplace / "nodes.csv").read_text()
    (workplace / "nodes.csv").write_text(text.replace("train,sea", "test,sea"))
    ended = ppro("train", *FILES, *QUICK, "--split-column", "part", "--out", "run")
    assert ended.status == 0, ended.err
    _check_finite(workplace / "run/nodes.csv")


def test_a_split_without_test_nodes(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    text = (workplace / "nodes.csv").read_text()
    (workplace / "nodes.csv").write_text(text.replace(",test,", ",none,"))
    words = (*FILES, *QUICK, "--split-column", "part", "--out", "run")
    assert "test accuracy        no node to measure it on" in ppro("train", *words).out
    assert "none of them for testing" in ppro("predict", "run").out


def _check_finite(path: Path) -> None:
    text = {"id", "label", "predicted", "split"}
    for row in rows(path):
        assert np.isfinite([float(row[name]) for name in row.keys() - text]).all()


def test_describe_tables(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    with (workplace / "edges.csv").open("a") as file:
        file.write("n0,n0\nn0,n1\n")
    ended = ppro("data", "describe", *FILES)
    assert ended.status == 0, ended.err
    told = " ".join(ended.out.split())
    for text in (
        "nodes 60",
        "adjusted homophily 0.",
        "unlabelled nodes 6",
        "feature columns size (numeric), kind (categorical) edges",
        "column part is left out: it reads like a split; --split-column 'part' trains with it",
        "finding 1 self-loops: dropped",
        "finding 1 edges listed again: merged",
        "column size: 4 missing values become the mean of the column",
    ):
        assert text in told
    assert max(map(len, ended.out.splitlines())) <= 80


def test_names_from_files_do_not_command_the_terminal(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    text = (workplace / "nodes.csv").read_text().replace(",art", ",\x1b[31mart")
    (workplace / "nodes.csv").write_text(text)
    out = ppro("data", "describe", *FILES).out
    assert r"'\x1b[31mart': " in out


def test_describe_needs_a_label_column(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    error = ppro("data", "describe", *FILES[:4]).error
    assert "which column is the label? Name it with --label; its columns: id, size" in error


@pytest.mark.parametrize("words", [(), ("--parquet",)])
def test_export(ppro: Command, workplace: Path, words: tuple[str, ...]) -> None:
    ended = ppro("data", "export", "csbm", "--out", "a/b", "--split", "random-60-20-20", *words)
    assert ended.status == 0, ended.err
    suffix = "parquet" if words else "csv"
    assert everything(workplace / "a/b") == {f"nodes.{suffix}", f"edges.{suffix}"}
    error = ppro("data", "export", "csbm", "--out", "a/b", *words).error
    assert f"nodes.{suffix}: already exists; choose another --out" in error
    (workplace / "file").touch()
    assert "cannot be written" in ppro("data", "export", "csbm", "--out", "file/x").error


def test_counts_are_normalised_and_measurements_are_not() -> None:
    import torch

    assert fitting_norm(torch.tensor([[0.0, 2.0]])) == "row"
    assert fitting_norm(torch.tensor([[0.0, -2.0]])) == "none"
    assert fitting_norm(torch.tensor([[0.0, -2.0]]).to_sparse_csr()) == "none"


def test_ids_under_an_unusual_name(ppro: Command, workplace: Path) -> None:
    (workplace / "nodes.csv").write_text("page,topic,x\na,u,1\nb,v,2\nc,u,3\nd,v,4\n")
    (workplace / "edges.csv").write_text("from,to\na,b\nb,c\nc,d\n")
    words = ("data", "describe", "--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
    assert "column page holds every end of the edges" in " ".join(ppro(*words).out.split())
    (workplace / "edges.csv").write_text("from,to\na,b\na,e\n")
    assert "give --id 'page'" in ppro(*words).error


@pytest.mark.parametrize("classes", [40, 150])
def test_classes_are_all_counted_or_it_is_said(
    ppro: Command, workplace: Path, classes: int
) -> None:
    cells = [f"{k},{k % 7},c{k % classes}" for k in range(400)]
    (workplace / "nodes.csv").write_text("\n".join(["id,x,topic", *cells]) + "\n")
    (workplace / "edges.csv").write_text("u,v\n0,1\n")
    told = " ".join(ppro("data", "describe", *FILES).out.split())
    shown = re.findall(r"c\d+: \d+", told)
    assert len(shown) == min(classes, 100)
    assert ("and 50 more classes, each of 2 nodes" in told) == (classes == 150)


def test_words_of_a_column_train_and_predict(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    given = rows(workplace / "nodes.csv")
    lines = [
        "id,about,topic",
        *(f"{r['id']},on {r['kind']}ee and {r['topic']}er,{r['topic']}" for r in given),
    ]
    (workplace / "nodes.csv").write_text("\n".join(lines) + "\n")
    told = ppro("data", "describe", *FILES, "--max-categories", "3").error
    assert "no column can be a feature" in told
    assert "--words 'about' makes features of the words" in told
    ended = ppro("train", *FILES, *QUICK, "--words", "about", "--max-words", "4", "--out", "run")
    assert ended.status == 0, ended.err
    (column,) = json.loads((workplace / "run" / "schema.json").read_text())["columns"]
    assert (column["kind"], len(column["words"])) == ("words", 4)
    new = [lines[0], *(line.replace("n", "m", 1) for line in lines[1:])]
    (workplace / "new.csv").write_text("\n".join(new) + "\n")
    edges = (workplace / "edges.csv").read_text().replace("n", "m")
    (workplace / "new_edges.csv").write_text(edges)
    words = ("predict", "run", "--nodes", "new.csv", "--edges", "new_edges.csv", "--out", "p.csv")
    assert ppro(*words).status == 0
    assert [row["id"] for row in rows(workplace / "p.csv")] == [f"m{k}" for k in range(60)]
