"""``ppro train --recipe auto``."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.cli.conftest import Command

SMALL = ("--option", "nodes=120", "--option", "features=12", "--runs", "2", "--set", "epochs=5")


def test_it_tells_what_it_chose_and_trains_with_it(ppro: Command, workplace: Path) -> None:
    ended = ppro("train", "csbm", "--recipe", "auto", "--budget", "3", *SMALL, "--out", "run")
    assert ended.status == 0
    assert "looking for settings" in ended.err
    assert "chose '" in ended.err
    kept = tomllib.loads((workplace / "runs/csbm-auto.toml").read_text(encoding="utf-8"))
    run = tomllib.loads((workplace / "run/settings.toml").read_text(encoding="utf-8"))
    assert kept["settings"] == run["settings"]
    assert run["settings"]["training"]["epochs"] == 5
    again = ppro("train", "csbm", "--recipe", "runs/csbm-auto.toml", *SMALL, "--out", "again")
    assert again.status == 0


def test_what_it_cannot_do(ppro: Command) -> None:
    assert "leave --model out" in ppro("train", "csbm", "--recipe", "auto", "--model", "gcn").error
    assert "choose again" in ppro("train", "csbm", "--recipe", "auto", "--resume").error
