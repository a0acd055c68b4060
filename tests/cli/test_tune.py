"""``ppro tune``: from a graph to a recipe that trains, stopped and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ppro.runs.config import read_config
from ppro.settings.recipe import read_recipe
from tests.cli.conftest import Command
from tests.cli.test_own_graph import write_tables

pytest.importorskip("optuna")

SMALL = ("csbm", "--option", "nodes=60", "--set", "hidden=8", "--set", "controller_units=8")
QUICK = (*SMALL, "--set", "epochs=3", "--seeds", "2")


def test_the_recipe_trains(ppro: Command, workplace: Path) -> None:
    ended = ppro("tune", *QUICK, "--trials", "4", "--batch", "4")
    assert ended.status == 0, ended.err
    assert "searching l2b on appnp: 4 of" in ended.err
    assert "[4/4] batch of 4" in ended.err
    path = workplace / "tuning/csbm-l2b/recipe.toml"
    recipe = read_recipe(path)
    assert "best of 4 configurations" in recipe.note
    assert recipe.settings.training.epochs == 3
    words = ("--option", "nodes=60", "--recipe", path, "--runs", "2", "--out", "run")
    trained = ppro("train", "csbm", *words)
    assert trained.status == 0, trained.err
    assert read_config(Path("run")).settings == recipe.settings


def test_the_same_command_goes_on_and_json_says_what_was_tried(ppro: Command) -> None:
    words = ("--trials", "3", "--batch", "3", "--strategy", "none", "--space", "paper", "--json")
    first = json.loads(ppro("tune", *QUICK, *words).out)
    assert first["study"] == "csbm-none-paper"
    assert first["configurations"] == 3
    again = json.loads(ppro("tune", *QUICK, *words, "--trials", "5", "--out", "best.toml").out)
    assert again["configurations"] == 5
    assert again["tried"][:3] == first["tried"]
    assert read_recipe(Path("best.toml")).settings.strategy == "none"


def test_a_rival(ppro: Command) -> None:
    ended = ppro("tune", *QUICK, "--model", "mlp", "--trials", "2", "--batch", "2")
    assert ended.status == 0, ended.err
    assert read_recipe(Path("tuning/csbm-mlp/recipe.toml")).settings.model == "mlp"


def test_a_graph_of_ones_own(ppro: Command, workplace: Path) -> None:
    write_tables(workplace, nodes=60)
    graph = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
    quick = ("--set", "epochs=3", "--set", "hidden=8", "--seeds", "2")
    ended = ppro("tune", *graph, *quick, "--trials", "2", "--batch", "2", "--out", "best.toml")
    assert ended.status == 0, ended.err
    assert "--recipe best.toml" in ended.out
    trained = ppro("train", *graph, "--recipe", "best.toml", "--runs", "2", "--out", "run")
    assert trained.status == 0, trained.err
    assert read_config(Path("run")).settings == read_recipe(Path("best.toml")).settings


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(ppro: Command, workplace: Path) -> None:
    words = ("tune", *SMALL, "--set", "epochs=300", "--seeds", "1", "--batch", "2")
    command = [sys.executable, "-m", "ppro", *words, "--trials", "1000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", env=os.environ)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("["):
            break
    process.send_signal(signal.SIGINT)
    told = process.stderr.read()
    assert process.wait(60) == 130, told
    assert "the same command goes on from here" in told
    assert "best of" in read_recipe(workplace / "tuning/csbm-l2b/recipe.toml").note
    record = json.loads((workplace / "tuning/csbm-l2b/search.json").read_text())
    assert record["running"] == 0
    done = record["configurations"]
    assert done >= 2
    after = ppro(*words, "--trials", str(done + 2), "--json")
    assert json.loads(after.out)["configurations"] == done + 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("csbm", "--space", "papers"), "--space papers: unknown; did you mean 'paper'?"),
        (("csbm", "--study", "a/b"), "without slashes"),
        (("csbm", "--study", ".."), "not . or .."),
        (("csbm", "--study", "a\x1b"), "it names files"),
        (("csbm", "--out", "."), "is a folder; name a TOML file"),
        (("csbm", "--storage", "mysql://x"), "use a journal file"),
        (("csbm", "--backbone", "sgc"), "use --space paper"),
        (("csbm", "--model", "gcm"), "model"),
        ((), "no graph given"),
    ],
)
def test_what_cannot_be_is_one_line(ppro: Command, words: tuple[str, ...], told: str) -> None:
    assert told in ppro("tune", *words).error


def test_without_optuna(ppro: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ppro.search.tuning.session", None)
    assert "pip install 'ppro[tune]'" in ppro("tune", "csbm").error
