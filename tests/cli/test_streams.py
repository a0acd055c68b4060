"""Standard streams, trackers and disks that fail: a training goes on, and its result is saved."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ppro.cli.streams import visible
from ppro.errors import RunError
from ppro.training.checkpoint import Keeper
from tests.cli.conftest import Command, everything

WORDS = ("train", "csbm", "--set", "epochs=20", "--runs", "1", "--threads", "1", "--out", "here")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="no /dev/full")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which ppro is the command; $? is that of ppro."""
    start = f"set -o pipefail; ppro() {{ '{sys.executable}' -m ppro \"$@\"; }}; {line}"
    return subprocess.run(["bash", "-c", start], capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize(
    ("redirected", "told"),
    [
        ("2>&- >&-", ""),
        pytest.param("> /dev/full", "warning: standard output: cannot be", marks=needs_full),
        pytest.param("2> /dev/full | true", "", marks=needs_full),
    ],
)
def test_a_stream_that_fails_does_not_end_a_training(
    workplace: Path, redirected: str, told: str
) -> None:
    ended = shell(f"ppro {' '.join(WORDS)} {redirected}")
    assert ended.returncode == 0, ended.stderr
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    assert (workplace / "here" / "settings.toml").exists()
    assert json.loads((workplace / "here" / "result.json").read_text())["epochs"] == 20
    assert not [name for name in everything(workplace) if ".ppro-" in name or "checkpoint" in name]


@needs_full
def test_lost_output_that_is_in_no_file_is_an_error() -> None:
    ended = shell("ppro recipes list > /dev/full")
    assert ended.returncode == 2
    assert ended.stderr == (
        "error: standard output: cannot be written (No space left on device); send it elsewhere\n"
    )


@needs_full
def test_live_metrics_that_cannot_be_written_cost_one_warning(
    ppro: Command, workplace: Path
) -> None:
    ended = ppro(*WORDS, "--live", "/dev/full")
    assert ended.status == 0, ended.err
    assert ended.err.count("No space left on device") == 1
    assert "training goes on without it" in ended.err
    assert FULL.is_char_device()
    assert (workplace / "here" / "settings.toml").exists()


def test_a_tensorboard_that_fails_costs_one_warning(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tensorboard")

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the writer thread died")

    monkeypatch.setattr("torch.utils.tensorboard.SummaryWriter.add_scalar", broken)
    monkeypatch.setattr("torch.utils.tensorboard.SummaryWriter.close", broken)
    ended = ppro(*WORDS, "--tensorboard", "board")
    assert ended.status == 0, ended.err
    assert ended.err.count("the writer thread died") == 1


def test_a_disk_that_fills_up_costs_one_warning(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    fsync, calls = os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if 6 < calls < 20:
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    ended = ppro(*WORDS, "--checkpoint-every", "0")
    assert ended.status == 0, ended.err
    assert calls > 20
    told = [record for record in caplog.records if "No space left" in record.getMessage()]
    assert len(told) == 1
    assert "training goes on; the checkpoint before stays" in told[0].getMessage()
    assert os.listdir(workplace) == ["here"]


def test_a_result_that_cannot_be_saved_is_shown(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ppro.runs.writing.write_nodes", full_disk)
    ended = ppro(*WORDS)
    assert ended.status == 2
    assert "test accuracy" in ended.err
    assert ended.err.splitlines()[-1].startswith("error: here: cannot be written (No space left")


def test_a_first_checkpoint_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="no checkpoint can be written there"):
        Keeper(tmp_path / "file" / "part", {}, 0).save({})


NASTY = "\x1b[2J\x1b]0;title\x07\u202egnp\x9b31m"


def test_texts_of_files_do_not_act_on_the_terminal(
    real_ppro: Command, ppro: Command, workplace: Path
) -> None:
    lines = "".join(f"{i},{'ab'[i % 2]}{NASTY},{i % 3}\n" for i in range(30))
    Path("nodes.csv").write_text(f"id,label,x\n{lines}", encoding="utf-8")
    pairs = "".join(f"{i},{(i + 1) % 30}\n" for i in range(30))
    Path("edges.csv").write_text(f"source,target\n{pairs}", encoding="utf-8")
    words = ("--nodes", "nodes.csv", "--edges", "edges.csv")
    for ended in (
        ppro("data", "describe", *words),
        ppro("train", *words, "--set", "epochs=2", "--runs", "1", "--out", "run"),
        ppro("explain", "run", "3"),
        ppro("predict", "run"),
        ppro("explain", "run", NASTY),
        ppro("train", f"{NASTY}.npz"),
    ):
        shown = ended.out + ended.err
        assert not any(sign in shown for sign in "\x1b\x07\u202e\x9b"), ended


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\n\tä€ b", "a\n\tä€ b"), ("\x1b[2J\r", "\\x1b[2J\\r"), ("\u202ea", "\\u202ea")],
)
def test_signs_that_steer_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_spreadsheet_finds_no_formula(ppro: Command, workplace: Path) -> None:
    lines = "".join(f"=cmd|' /C calc'!A{i},{'@+'[i % 2]}x,{i % 3}\n" for i in range(30))
    Path("nodes.csv").write_text(f"id,label,x\n{lines}", encoding="utf-8")
    pairs = "".join(f"=cmd|' /C calc'!A{i},=cmd|' /C calc'!A{(i + 1) % 30}\n" for i in range(30))
    Path("edges.csv").write_text(f"source,target\n{pairs}", encoding="utf-8")
    words = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--set", "epochs=2", "--runs", "1")
    assert ppro("train", *words, "--out", "run").status == 0
    assert ppro("predict", "run", "--out", "raw.csv").status == 0
    assert ppro("predict", "run", "--out", "safe.csv", "--safe-csv").status == 0
    with open("raw.csv", newline="") as file:
        raw = list(csv.reader(file))
    with open("safe.csv", newline="") as file:
        safe = list(csv.reader(file))
    assert not any(cell.startswith(("=", "+", "@")) for row in safe for cell in row)
    assert [[cell.removeprefix("'") for cell in row] for row in safe] == raw
    assert raw[1][0].startswith("=cmd")


def test_a_search_without_room_for_its_journal_is_one_line(workplace: Path) -> None:
    words = "tune csbm --option nodes=60 --trials 2 --seeds 1 --set epochs=3"
    ended = shell(f"trap '' XFSZ; ulimit -f 8; ppro {words}")
    assert ended.returncode == 2, ended.stderr
    errors = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "File too large" in errors[0]
    assert "unexpected" not in ended.stderr
    whole = shell(f"ppro {words}")
    assert whole.returncode == 0, whole.stderr


@pytest.mark.parametrize("first", ["SystemExit(130)", "KeyboardInterrupt"])
def test_a_second_ctrl_c_is_too_late_to_disturb_the_end(first: str) -> None:
    code = (
        "import atexit, os, signal, ppro.cli, ppro.__main__\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        f"def run(): raise {first}\n"
        "ppro.cli.main = run\n"
        "ppro.__main__.main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert ended.returncode == 130
    assert ended.stderr == ("" if "130" in first else "interrupted\n")
