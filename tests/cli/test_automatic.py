"""``ppro train`` on a graph without a recipe, ``--recipe auto`` and ``--recipe plain``."""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from ppro.cli import searching
from ppro.search.auto_candidates import CANDIDATES
from tests.cli.conftest import Command
from tests.cli.test_own_graph import FILES, write_tables

SMALL = ("--option", "nodes=120", "--option", "features=12", "--runs", "2")
SHORT = ("--set", "epochs=5")


def test_it_tells_what_it_chose_and_trains_with_it(ppro: Command, workplace: Path) -> None:
    words = ("--recipe", "auto", "--budget", "3", *SMALL, *SHORT)
    ended = ppro("train", "csbm", *words, "--out", "run")
    assert ended.status == 0
    assert "looking for settings" in ended.err
    assert "chose '" in ended.err
    kept = tomllib.loads((workplace / "runs/csbm-auto.toml").read_text(encoding="utf-8"))
    run = tomllib.loads((workplace / "run/settings.toml").read_text(encoding="utf-8"))
    assert kept["settings"] == run["settings"]
    assert run["settings"]["training"]["epochs"] == 5
    again = ppro("train", "csbm", "--recipe", "runs/csbm-auto.toml", *SMALL, "--out", "again")
    assert again.status == 0


def test_a_graph_without_a_recipe_is_searched_in_time(ppro: Command, workplace: Path) -> None:
    write_tables(workplace, nodes=90)
    begin = time.monotonic()
    ended = ppro("train", *FILES, "--runs", "2", "--budget", "6", "--out", "run", "--json")
    assert ended.status == 0, ended.err
    assert time.monotonic() - begin < 6.0 + 2.0
    facts = json.loads(ended.out)
    assert facts["search"] == json.loads((workplace / "run/result.json").read_text())["search"]
    tried = facts["search"]["tried"]
    assert tried[0]["candidate"] == facts["search"]["chosen"]
    assert {"validation_mean", "validation", "epochs"} <= tried[0].keys()
    assert "validation  tried" in ended.err
    assert any(note.startswith("auto chose") for note in facts["notes"])
    assert any(note.startswith("runners-up by validation") for note in facts["notes"])


def test_the_bare_network_is_always_among_the_runners_up_that_are_told() -> None:
    bare = {c.name for c in CANDIDATES if searching.BARE_DEPTH.fullmatch(c.name)}
    assert bare == {searching.ONE_STEP, "2 steps", "4 steps", "8 steps"}
    names = ["GCN", "A", "B", "C", "D", "8 steps", "2 steps", "E", "1 step", "8 steps, in-edges"]
    rows = [(f"{90 - i} %", name, "80") for i, name in enumerate(names)]
    told = searching._runners_up(SimpleNamespace(rows=lambda: rows))  # type: ignore[arg-type]
    assert told.partition(": ")[2].split(", ") == [
        *(f"{name} {90 - i} % (80 epochs)" for i, name in enumerate("ABCD", 1)),
        "8 steps 85 % (80 epochs)",
        "1 step 82 % (80 epochs); 3 others were behind",
    ]
    alone = SimpleNamespace(rows=lambda: rows[:1])
    assert searching._runners_up(alone) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words", [("--strategy", "l2u", *SHORT), ("--set", "hidden=8", *SHORT), ("--recipe", "plain")]
)
def test_whoever_says_what_to_train_gets_that(
    ppro: Command, workplace: Path, words: tuple[str, ...]
) -> None:
    write_tables(workplace, nodes=90)
    ended = ppro("train", *FILES, *words, "--runs", "1", "--json")
    assert ended.status == 0, ended.err
    assert "search" not in json.loads(ended.out)
    assert "looking for settings" not in ended.err


def test_a_budget_that_nothing_is_searched_in_is_told_of(ppro: Command, workplace: Path) -> None:
    write_tables(workplace, nodes=90)
    words = ("--recipe", "plain", *SHORT, "--runs", "1", "--json")
    assert "--budget" not in ppro("train", *FILES, *words).err
    ended = ppro("train", *FILES, *words, "--budget", "30")
    assert "--budget 30 has no effect: nothing is searched here" in ended.err


@pytest.mark.parametrize(("taken", "why"), [("run", "already exists"), (".run.checkpoint", "")])
def test_a_folder_that_is_taken_is_refused_before_the_search(
    ppro: Command, workplace: Path, taken: str, why: str
) -> None:
    write_tables(workplace, nodes=90)
    (workplace / taken).mkdir()
    (workplace / taken / "part-0.safetensors").write_text("")
    error = ppro("train", *FILES, "--budget", "6", "--out", "run").error
    assert error.startswith(f"run: {why or 'a training was stopped there'}")


def test_plain_says_when_its_epochs_did_not_suffice(
    ppro: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppro.search.choice.PLAIN_EPOCHS", 3)
    ended = ppro("train", "csbm", "--recipe", "plain", *SMALL, "--json")
    facts = json.loads(ended.out)
    assert (facts["strategy"], facts["backbone"]) == ("none", "res-sage")
    told = "every run was still learning at the cap of 3 epochs; --set epochs=6 gives more"
    assert told in facts["notes"]
    ended = ppro("train", "csbm", "--recipe", "plain", *SMALL, "--set", "epochs=2", "--json")
    assert json.loads(ended.out)["notes"] == []


def test_what_it_cannot_do(ppro: Command) -> None:
    assert "leave --model out" in ppro("train", "csbm", "--recipe", "auto", "--model", "gcn").error
    assert "choose again" in ppro("train", "csbm", "--recipe", "auto", "--resume").error
