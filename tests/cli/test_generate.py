"""A generated large graph, from the folder to a prediction."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ppro.training import memory
from tests.cli.conftest import Command

SMALL = ("--nodes", "300", "--degree", "6", "--classes", "3", "--features", "4", "--train", "0.4")
QUICK = ("--set", "form=class", "--set", "epochs=3", "--runs", "1")


@pytest.fixture
def big(ppro: Command) -> str:
    ended = ppro("data", "generate", "big", *SMALL)
    assert ended.status == 0
    assert "300 nodes" in ended.out
    return "big"


def test_train_describe_and_predict_take_the_folder(ppro: Command, big: str) -> None:
    assert "homophily" in ppro("data", "describe", big).out
    ended = ppro("train", big, *QUICK, "--out", "run")
    assert ended.status == 0, ended.err
    assert json.loads(Path("run/result.json").read_text())["split"] == "given"
    assert ppro("predict", "run", "--out", "nodes.csv").status == 0
    for path in ("run/nodes.csv", "nodes.csv"):
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["id"] for row in rows] == [str(i) for i in range(300)]
        assert {row["split"] for row in rows} == {"train", "val", "test"}


def test_a_table_of_nodes_is_the_same_in_parts(
    ppro: Command, big: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ppro("train", big, *QUICK, "--out", "run").status == 0
    monkeypatch.setattr("ppro.runs.nodetable.PART", 7)
    assert ppro("predict", "run", "--out", "parts.csv").status == 0
    assert Path("parts.csv").read_text() == Path("run/nodes.csv").read_text()


def test_a_training_that_cannot_fit_is_refused(
    ppro: Command, big: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1000)
    ended = ppro("train", big, *QUICK, "--out", "run")
    assert ended.status == 2
    assert "GiB are free" in ended.err
    assert not Path("run").exists()


def test_a_folder_that_exists_is_left_alone(ppro: Command, big: str) -> None:
    ended = ppro("data", "generate", big, *SMALL)
    assert ended.status == 2
    assert "already exists" in ended.error


def test_a_plan_that_cannot_be_generated_leaves_nothing(ppro: Command) -> None:
    assert "homophily is 2" in ppro("data", "generate", "bad", "--homophily", "2").error
    assert not Path("bad").exists()


def test_a_damaged_folder_ends_in_one_line(ppro: Command, big: str) -> None:
    labels = np.load("big/labels.npy")
    np.save("big/labels.npy", labels + 5)
    assert "label" in ppro("train", big, *QUICK).error
