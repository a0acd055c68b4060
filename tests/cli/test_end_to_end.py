"""The command line as a process of its own, the way a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppro.cli.afterwards import STOPPED
from tests.cli.conftest import QUICK, Command, everything

RUN_FILES = {
    "settings.toml",
    "metrics.jsonl",
    "result.json",
    "weights.safetensors",
    "nodes.csv",
    "nodes.safetensors",
}
PROMISED = {
    *("dataset", "split", "strategy", "backbone", "runs", "epochs"),
    *("val_mean", "val_std", "test_mean", "test_std", "paper", "seconds", "out"),
}


def test_train_prints_the_result_and_fills_a_run_folder(
    real_ppro: Command, workplace: Path
) -> None:
    ended = real_ppro("train", "digits", *QUICK)
    assert ended.status == 0, ended.err
    assert "digits: 1,797 nodes" in ended.err
    lines = ended.out.splitlines()
    assert any(line.startswith("test accuracy") and "±" in line for line in lines)
    assert lines[-1].split() == ["saved", "in", "runs/digits-l2b"]
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)
    assert "\x1b" not in ended.out + ended.err
    assert everything(workplace / "runs/digits-l2b") == RUN_FILES
    assert everything(workplace) == {
        "runs",
        "runs/digits-l2b",
        *(f"runs/digits-l2b/{name}" for name in RUN_FILES),
    }


def test_json_is_the_only_thing_on_stdout(real_ppro: Command) -> None:
    ended = real_ppro("train", "csbm", *QUICK, "--json", "--out", "my [x] öut/ü")
    assert ended.status == 0, ended.err
    assert ended.out.count("\n") == 1
    facts = json.loads(ended.out)
    assert facts.keys() >= PROMISED
    assert facts["runs"] == 2
    assert facts["epochs"] == 10
    assert facts["paper"] is None
    assert facts["out"] == "my [x] öut/ü"
    assert facts["dataset"] == "csbm"
    assert json.loads(Path(facts["out"], "result.json").read_text(encoding="utf-8")) == facts
    assert "test accuracy" in ended.err
    assert "my [x] öut/ü" in ended.err


def test_an_encoding_without_the_characters_is_no_obstacle(real_ppro: Command) -> None:
    ended = real_ppro("train", "csbm", *QUICK, env={"PYTHONIOENCODING": "ascii"})
    assert ended.status == 0, ended.err
    assert "####" in ended.out


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_saves_the_best_states(workplace: Path, threads: str) -> None:
    command = [sys.executable, "-m", "ppro", "train", "digits", "--runs", "2", "--json"]
    endless = ["--set", "epochs=1000000", "--set", "patience=1000000", "--threads", threads]
    live = workplace / "epochs.jsonl"
    # A shell may have left interrupts ignored, which a child inherits.
    with subprocess.Popen(
        [*command, *endless, "--live", str(live)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            # Some epochs must be over, however busy the machine is.
            while not live.exists() or live.read_bytes().count(b"\n") < 5:
                assert process.poll() is None
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, err
    facts = json.loads(out)
    assert facts["interrupted"] is True
    assert facts["epochs"] > 0
    assert err.splitlines()[-1] == STOPPED
    assert "Traceback" not in err
    assert everything(workplace / "runs/digits-l2b") == RUN_FILES | {".ppro-interim"}
    assert sorted(os.listdir(workplace / "runs")) == [".digits-l2b.checkpoint", "digits-l2b"]


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    ended = subprocess.run(
        f"'{sys.executable}' -m ppro recipes list | head -1",
        shell=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.stdout.startswith("recipe")
    assert ended.stderr == ""
