"""Tables in Python: paths and frames, the schema that a model keeps and applies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ppro
from ppro.errors import DataError, SettingsError
from tests.data.files.support import EDGES, NODES, written

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

QUICK: dict[str, Any] = {"hidden": 8, "epochs": 12, "max_steps": 3, "lr": 0.05, "device": "cpu"}


def frames(count: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """A ring whose neighbours mostly share a topic; every tenth node has no label."""
    rng = np.random.default_rng(seed)
    topic = np.arange(count) * 3 // count
    nodes = pd.DataFrame(
        {
            "name": [f"n{k}" for k in range(count)],
            "size": topic + rng.random(count),
            "kind": pd.Categorical(np.array(["p", "q"])[np.arange(count) % 2]),
            "votes": pd.array([None if k % 7 == 3 else int(k % 5) for k in range(count)], "Int64"),
            "topic": np.array(["art", "law", "sea"])[topic],
        }
    )
    nodes.loc[::10, "topic"] = None
    ends = nodes["name"].to_numpy()
    edges = pd.DataFrame({"from": ends, "to": np.roll(ends, 1), "weight": 1 + rng.random(count)})
    return nodes, edges


def tables(seed: int = 0, **more: Any) -> Any:
    return ppro.read_tables(*frames(seed=seed), id="name", label="topic", **more)


def test_frames_and_files_give_the_same_graph(tmp_path: Path) -> None:
    nodes, edges = frames()
    nodes.to_csv(tmp_path / "n.csv", index=False)
    edges.to_parquet(tmp_path / "e.parquet", index=False)
    named: Any = {"id": "name", "label": "topic"}
    files = ppro.read_tables(str(tmp_path / "n.csv"), tmp_path / "e.parquet", **named)
    one, other = tables(), files
    assert (one.graph.name, other.graph.name) == ("tables", "n")
    assert one.schema == other.schema
    assert torch.equal(one.graph.features.to_dense(), other.graph.features.to_dense())
    assert torch.equal(one.graph.edge_index, other.graph.edge_index)
    assert other.graph.edge_weight is not None
    assert torch.equal(one.graph.edge_weight, other.graph.edge_weight)
    assert one.graph.node_ids == other.graph.node_ids
    assert any("weighs the edges" in note for note in one.notes)
    assert any("unlabelled nodes" in line for line in one.findings())


def test_a_named_index_is_a_column() -> None:
    nodes, edges = frames()
    found = ppro.read_tables(nodes.set_index("name"), edges, id="name", label="topic")
    assert found.schema == tables().schema


def test_an_index_that_does_not_count_is_taken_for_the_ids() -> None:
    nodes, edges = frames()
    turned = nodes.set_index("name").rename_axis(None).sample(frac=1, random_state=0)
    found = ppro.read_tables(turned, edges, label="topic")
    assert found.graph.node_ids == tuple(turned.index)
    numbered = nodes.drop(columns="name")
    ends = edges.replace(dict(zip(nodes["name"], range(len(nodes)), strict=True)))
    kept = ppro.read_tables(numbered, ends, label="topic").graph
    moved = ppro.read_tables(numbered.sample(frac=1, random_state=0), ends, label="topic").graph
    assert kept.node_ids is None
    assert moved.node_ids is not None
    place = torch.tensor([int(name) for name in moved.node_ids])
    assert torch.equal(moved.labels, kept.labels[place])
    pairs = {tuple(pair) for pair in kept.edge_index.T.tolist()}
    assert {tuple(pair) for pair in place[moved.edge_index].T.tolist()} == pairs


def test_the_schema_is_kept_and_applied(tmp_path: Path) -> None:
    model = ppro.PPro(**QUICK).fit(tables())
    assert model.classes_.tolist() == ["art", "law", "sea"]
    model.save(tmp_path / "run")
    nodes, edges = frames(seed=1)
    # Other sizes and other categories must be scaled and coded as in training.
    nodes["size"] += 10
    nodes["kind"] = "q"
    new = ppro.read_tables(nodes.drop(columns="topic"), edges, id="name")
    loaded = ppro.load(tmp_path / "run", device="cpu")
    found = loaded.describe(new)
    expected = model.describe(new)
    assert np.array_equal(found.probabilities, expected.probabilities)
    by_hand = new.read(model.run_.schema).graph
    assert by_hand.num_features == model.n_features_in_
    assert by_hand.features[:, 0].min() > 5
    assert np.array_equal(loaded.predict(new), loaded.predict(by_hand))
    assert set(loaded.predict(new)) <= set(model.classes_)


def test_scores_are_those_of_the_labels_in_the_tables() -> None:
    nodes, edges = frames()
    part = np.array(["train", "val", "test", "train", "train"])[np.arange(60) % 5]
    nodes["part"] = np.where(nodes["topic"].isna(), "none", part)
    given = ppro.read_tables(nodes, edges, id="name", label="topic", split_column="part")
    model = ppro.PPro(**QUICK).fit(given)
    assert model.splits_.train.sum() == (nodes["part"] == "train").sum()
    assert model.splits_.test.sum() == (nodes["part"] == "test").sum()
    test = (nodes["part"] == "test").to_numpy()
    right = model.predict(given)[test] == nodes["topic"].to_numpy()[test]
    assert model.score(tables(), mask=test) == pytest.approx(right.mean())


def test_a_run_of_the_command_line_takes_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ppro.cli import main

    nodes, edges = frames()
    nodes.to_csv(tmp_path / "n.csv", index=False)
    edges.to_csv(tmp_path / "e.csv", index=False)
    words = ["--nodes", "n.csv", "--edges", "e.csv", "--id", "name", "--label", "topic"]
    quick = ["--runs", "1", "--set", "epochs=5", "--out", "run"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["ppro", "train", *words, *quick])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    model = ppro.load("run", device="cpu")
    table = pd.read_csv("run/nodes.csv")
    assert model.predict(ppro.read_tables(nodes, edges)).tolist() == table["predicted"].tolist()


def test_what_read_tables_refuses(tmp_path: Path) -> None:
    nodes, edges = frames()
    with pytest.raises(DataError, match="nodes: list is no table; give a path or a pandas"):
        ppro.read_tables([1], edges)
    with pytest.raises(SettingsError, match="lable: Extra inputs are not permitted; the options"):
        ppro.read_tables(nodes, edges, lable="topic")
    with pytest.raises(DataError, match="the table of nodes: which column is the label"):
        ppro.PPro(**QUICK).fit(ppro.read_tables(nodes, edges, id="name"))
    with pytest.raises(DataError, match="name it and leave y out"):
        ppro.PPro(**QUICK).fit(tables(), nodes["topic"])
    plain = ppro.PPro(**QUICK).fit(ppro.load_graph("csbm", options={"nodes": 60}))
    with pytest.raises(DataError, match="trained on features without column names"):
        plain.predict(tables())
    first, second = written(tmp_path, NODES, EDGES)
    with pytest.raises(DataError, match=r"nodes\.csv: no column 'name'"):
        ppro.PPro(**QUICK).fit(tables()).predict(ppro.read_tables(first, second))


@pytest.mark.parametrize("cell", [[0.1, 0.2], (1, [2]), {"a": 1}, np.ones(2)])
def test_lists_in_a_cell_are_left_out_and_told(cell: Any) -> None:
    nodes, edges = frames()
    nodes["embedding"] = pd.Series([cell] * len(nodes), dtype=object)
    found = ppro.read_tables(nodes, edges, id="name", label="topic")
    assert found.schema == tables().schema
    assert "column embedding is left out: cells of type list" in "\n".join(found.notes)
    named = ppro.read_tables(nodes, edges, id="name", label="topic", add_features=["embedding"])
    with pytest.raises(ppro.DataError, match="column embedding: cells of type list"):
        assert named.graph
