from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Command, everything

HOSTILE = "[red]<script>\x1b[31m"


@pytest.fixture
def run(ppro: Command, workplace: Path) -> Path:
    options = ("--option", "nodes=60", "--set", "max_steps=4")
    assert ppro("train", "csbm", *QUICK, *options, "--out", "run").status == 0
    return workplace / "run"


def data_of(path: Path) -> dict[str, dict[str, object]]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    values: dict[str, dict[str, object]] = json.loads(found[1])
    return values


def test_a_report_is_one_file(ppro: Command, run: Path, workplace: Path) -> None:
    ended = ppro("report", run)
    assert ended.status == 0
    assert ended.out.splitlines()[-1] == f"written to {run / 'report.html'}; open it in a browser"
    assert data_of(run / "report.html")["explorer"]["nodes"] == 60
    assert ppro("report", run, "--run", "1", "--out", "new/r.html").out.startswith(
        "run 1: 60 nodes"
    )
    assert data_of(workplace / "new" / "r.html")["summary"]["run"] == 1
    assert everything(workplace / "new") == {"r.html"}


def test_wrong_arguments_of_a_report(ppro: Command, run: Path, workplace: Path) -> None:
    before = everything(workplace)
    assert "--run 7: out of range" in ppro("report", run, "--run", "7").error
    assert "is a folder; name an HTML file" in ppro("report", run, "--out", run).error
    assert "not a run folder" in ppro("report", workplace / "none").error
    assert "cannot be written" in ppro("report", run, "--out", run / "nodes.csv/x").error
    (run / "metrics.jsonl").unlink()
    assert "metrics.jsonl: missing; train again" in ppro("report", run).error
    assert everything(workplace) | {"run/metrics.jsonl"} == before


def test_a_node_is_explained(ppro: Command, run: Path) -> None:
    told = ppro("explain", run, "7")
    assert told.status == 0
    for part in ("node 7 of csbm", "P(break)", "what drives its priority", "neighbours"):
        assert part in told.out
    story = json.loads(ppro("explain", run, "7", "--json").out)
    assert [row["step"] for row in story["by_step"]] == [0, 1, 2, 3, 4]
    assert story["by_step"][story["step"]]["predicted"] == story["predicted"]
    assert len(story["neighbours"]) == story["degree"]
    assert story["drivers"][0]["name"] == "degree"
    other = json.loads(ppro("explain", run, "7", "--json", "--run", "1").out)
    assert {story["run"], other["run"]} >= {1}


def test_a_story_agrees_with_the_table_of_nodes(ppro: Command, run: Path) -> None:
    header, *rows = (run / "nodes.csv").read_text(encoding="utf-8").splitlines()
    row = dict(zip(header.split(","), rows[3].split(","), strict=True))
    story = json.loads(ppro("explain", run, "3", "--json").out)
    assert (story["label"], story["predicted"]) == (row["label"], row["predicted"])
    assert (str(story["step"]), story["split"]) == (row["step"], row["split"])
    assert story["priority"] == pytest.approx(float(row["priority"]), rel=1e-4)


@pytest.mark.parametrize("node", ["60", "-1", "1.0", "seven", "²", "", HOSTILE])
def test_a_node_that_is_not_there(ppro: Command, run: Path, node: str) -> None:
    error = ppro("explain", run, "--", node).error
    assert "no node has the id" in error
    assert "ids are 0 to 59" in error
    assert "\x1b" not in error


@pytest.mark.parametrize("options", [("--strategy", "none"), ("--set", "model=mlp")])
def test_a_model_without_controllers_is_explained(ppro: Command, options: tuple[str, str]) -> None:
    words = ("csbm", "--option", "nodes=60", *QUICK, *options, "--out", "bare")
    assert ppro("train", *words).status == 0
    told = ppro("explain", "bare", "3")
    assert told.status == 0
    assert "priority" not in told.out
    assert ppro("report", "bare").status == 0


def test_the_user_s_own_ids_labels_and_feature_names(ppro: Command, workplace: Path) -> None:
    ids = [f"{HOSTILE} {i}" for i in range(40)]
    rows = [f'"{ids[i]}",{i % 7},{"ab"[i % 2]},"<b>{i % 2}"' for i in range(40)]
    nodes = workplace / "nodes.csv"
    nodes.write_text("\n".join(["id,size,kind,label", *rows]) + "\n", encoding="utf-8")
    ends = [f'"{ids[i]}","{ids[(i + 2) % 40]}"' for i in range(40)]
    edges = workplace / "edges.csv"
    edges.write_text("\n".join(["source,target", *ends]) + "\n", encoding="utf-8")
    files = ("--nodes", nodes, "--edges", edges, "--label", "label")
    assert ppro("train", *files, *QUICK, "--out", "own").status == 0
    told = ppro("explain", "own", ids[5])
    assert told.status == 0
    assert "[red]<script>" in told.out
    assert "kind = b" in told.out
    assert "\x1b" not in told.out
    assert json.loads(ppro("explain", "own", ids[5], "--json").out)["id"] == ids[5]
    assert "did you mean" in ppro("explain", "own", ids[5] + "x").error
    assert ppro("report", "own").status == 0
    text = (workplace / "own" / "report.html").read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert data_of(workplace / "own" / "report.html")["explorer"]["ids"] == ids


@pytest.mark.parametrize(("strategy", "chance"), [("l2b", "P(break)"), ("l2u", "P(update)")])
def test_controllers_that_compare_are_explained(
    ppro: Command, workplace: Path, strategy: str, chance: str
) -> None:
    taught = ("--set", "teaching=compare", "--set", "judges=folds", "--set", "judge_folds=2")
    words = ("planted", "--option", "nodes=120", *QUICK, "--set", "max_steps=3", *taught)
    assert ppro("train", *words, "--strategy", strategy, "--out", "run").status == 0
    told = ppro("explain", "run", "7")
    assert told.status == 0, told.err
    parts = (chance, "what the controllers compare", "agreement with its neighbours")
    for part in (*parts, "of all nodes of the run", "Training scales them to mean 1"):
        assert part in " ".join(told.out.split())
    story = json.loads(ppro("explain", "run", "7", "--json").out)
    assert story["of_the_run"]["priorities"]["mean"] > 0
    assert ppro("report", "run").status == 0
    assert data_of(workplace / "run" / "report.html")["explorer"]["firstDecision"] == (
        0 if strategy == "l2b" else 1
    )
    header, *rows = (workplace / "run" / "nodes.csv").read_text(encoding="utf-8").splitlines()
    row = dict(zip(header.split(","), rows[7].split(","), strict=True))
    assert str(story["step"]) == row["step"]
    assert story["priority"] == pytest.approx(float(row["priority"]), rel=1e-3)
    assert ppro("predict", "run", "--only", "7", "--out", "some.csv").status == 0
    some = (workplace / "some.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert some[header.split(",").index("step")] == row["step"]
