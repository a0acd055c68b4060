"""``ppro train --resume``: stopped at any moment, gone on with, to the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from ppro.cli.afterwards import STOPPED
from ppro.training import fit as fitting
from ppro.training.checkpoint import Checkpointing
from tests.cli.conftest import Command, everything

TINY = ("--set", "epochs=1", "--runs", "1")
SHORT = ("--set", "epochs=30", "--runs", "2", "--checkpoint-every", "0", "--threads", "1")
LONG = ("--set", "epochs=150", "--set", "patience=150", "--runs", "2", "--checkpoint-every", "0.1")


def bits(run: Path) -> dict[str, bytes]:
    """What two runs must share to the last bit."""
    files = ("settings.toml", "metrics.jsonl", "weights.safetensors", "nodes.csv")
    return {name: (run / name).read_bytes() for name in files}


FIT = fitting.fit


def stop_at(monkeypatch: pytest.MonkeyPatch, epoch: int, error: BaseException | None) -> None:
    """Let the next training end at an epoch: with an error, or as with Ctrl-C when None."""

    def fit(*args: Any, on_epoch: Any, **options: Any) -> Any:
        def stop(done: int, metrics: Tensor, going: int) -> None:
            on_epoch(done, metrics, going)
            if done == epoch:
                if error is None:
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    raise error

        monkeypatch.setattr(fitting, "fit", FIT)
        return FIT(*args, on_epoch=stop, **options)

    monkeypatch.setattr(fitting, "fit", fit)


def killed(words: tuple[str, ...], checkpoint: Path, saves: int) -> None:
    """Start a training as a process of its own; kill -9 it when it has saved so many times."""
    command = [sys.executable, "-m", "ppro", "train", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    last = written(checkpoint)
    try:
        while saves:
            assert process.poll() is None, "the training ended before it could be killed"
            time.sleep(0.01)
            if (now := written(checkpoint)) != last:
                saves, last = saves - 1, now
    finally:
        process.kill()
        process.wait()


def written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def test_kill_9_twice_then_resume_gives_the_same_bits(real_ppro: Command, workplace: Path) -> None:
    words = ("digits", *LONG, "--threads", "1")
    part = workplace / "runs/.digits-l2b.checkpoint/part-0.safetensors"
    killed(words, part, 3)
    assert not (workplace / "runs/digits-l2b").exists()
    killed((*words, "--resume"), part, 3)
    ended = real_ppro("train", *words, "--resume")
    assert ended.status == 0, ended.err
    assert os.listdir(workplace / "runs") == ["digits-l2b"]
    assert real_ppro("train", *words, "--out", "whole").status == 0
    assert bits(workplace / "runs/digits-l2b") == bits(workplace / "whole")


@pytest.mark.parametrize(
    ("out", "same"),
    [
        ((), "runs/csbm-l2b"),
        (("--out", "here"), "here"),
        (("--out", "there"), "there"),
        (("--out", "."), "."),
    ],
)
def test_ctrl_c_keeps_the_checkpoint_and_says_how_to_resume(
    ppro: Command,
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    out: tuple[str, ...],
    same: str,
) -> None:
    if same == "there":
        (workplace / "there").mkdir()
    words = ("train", "csbm", *SHORT, *out, "--json")
    stop_at(monkeypatch, 7, None)
    cut = ppro(*words)
    assert cut.status == 130
    assert cut.err.splitlines()[-1] == STOPPED
    assert "the same command with --resume" in STOPPED
    assert json.loads(cut.out)["per_run"][0]["epochs"] == 7
    names = everything(workplace)
    resumed = ppro(*words, "--resume")
    assert resumed.status == 0, resumed.err
    # What Ctrl-C saved is replaced by the whole run; nothing appears elsewhere.
    run = Path(json.loads(resumed.out)["out"])
    assert os.path.samefile(run, same)
    assert everything(workplace) < names
    assert not list(workplace.parent.rglob("*.ppro-*"))
    assert not list(workplace.parent.rglob("*checkpoint"))
    assert not json.loads((run / "result.json").read_text())["interrupted"]
    assert ppro("train", "csbm", *SHORT, "--out", "../whole").status == 0
    assert bits(run) == bits(Path("../whole"))


def test_a_training_of_the_same_name_does_not_overwrite_a_stopped_one(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, 7, RuntimeError("killed"))
    assert ppro("train", "csbm", *SHORT).status == 1
    kept = (workplace / "runs/.csbm-l2b.checkpoint/part-0.safetensors").read_bytes()
    other = ppro("train", "csbm", *TINY)
    assert "runs/csbm-l2b was stopped, or still runs; --resume goes on" in other.err
    assert other.out.split()[-1] == "runs/csbm-l2b-2"
    assert (workplace / "runs/.csbm-l2b.checkpoint/part-0.safetensors").read_bytes() == kept
    assert "--resume goes on" not in " ".join(
        json.loads((workplace / "runs/csbm-l2b-2/result.json").read_text())["notes"]
    )
    told = ppro("train", "csbm", *SHORT, "--out", "runs/csbm-l2b").error
    assert "was stopped there; add --resume to go on with it" in told
    resumed = ppro("train", "csbm", *SHORT, "--resume", "--out", "runs/csbm-l2b")
    assert resumed.out.split()[-1] == "runs/csbm-l2b"


def test_resume_finds_the_checkpoint_of_the_same_settings(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in ("1", "2"):
        stop_at(monkeypatch, 7, RuntimeError("killed"))
        assert ppro("train", "csbm", *SHORT, "--seed", seed).status == 1
    (workplace / "runs/.csbm-l2b-of-mine.checkpoint").mkdir()
    # The newest of all, when none has the settings: what differs is named.
    assert "differing in seed, splits;" in ppro("train", "csbm", *SHORT, "--resume").err
    ended = ppro("train", "csbm", *SHORT, "--seed", "1", "--resume")
    assert ended.out.split()[-1] == "runs/csbm-l2b"
    assert sorted(os.listdir(workplace / "runs")) == [
        *(".csbm-l2b-2.checkpoint", ".csbm-l2b-of-mine.checkpoint"),
        "csbm-l2b",
    ]


@pytest.mark.parametrize(
    ("out", "named"), [((), "runs/csbm-l2b"), (("--out", "here"), "here"), (("--out", "."), ".")]
)
def test_resume_without_a_checkpoint_names_the_folder(
    ppro: Command, workplace: Path, out: tuple[str, ...], named: str
) -> None:
    told = ppro("train", "csbm", *TINY, "--resume", *out).error
    assert told.startswith(f"{named}: no checkpoint to resume; begin without --resume")
    assert everything(workplace) == set()


def test_settings_of_a_checkpoint_that_cannot_be_read_do_not_matter(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, 7, RuntimeError("killed"))
    assert ppro("train", "csbm", *SHORT).status == 1
    (workplace / "runs/.csbm-l2b.checkpoint/settings.toml").write_text("format = = 1")
    assert ppro("train", "csbm", *SHORT, "--resume").status == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")])
def test_a_training_stopped_before_its_first_epoch_leaves_nothing(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def epoch(*args: Any) -> None:
        raise error

    monkeypatch.setattr("ppro.training.trainer.Trainer.epoch", epoch)
    assert ppro("train", "csbm", *SHORT).status in (1, 130)
    assert everything(workplace) == set()


@pytest.mark.parametrize(("out", "resume"), [((), ("--resume",)), (("--out", "here"), ())])
def test_killed_before_the_first_checkpoint_the_same_command_simply_starts(
    ppro: Command, workplace: Path, out: tuple[str, ...], resume: tuple[str, ...]
) -> None:
    code = (
        "import os, signal, sys; from ppro.cli import main; from ppro.training import fit\n"
        "fit.fit = lambda *a, **b: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv = ['ppro', 'train', 'csbm', *sys.argv[1:]]; main()"
    )
    command = [sys.executable, "-c", code, *SHORT, *out]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
    left = everything(workplace)
    assert any(name.endswith(".checkpoint") for name in left)
    ended = ppro("train", "csbm", *SHORT, *out, *resume)
    assert ended.status == 0, ended.err
    assert not [name for name in everything(workplace) if ".ppro-" in name or "checkpoint" in name]
    assert ended.out.split()[-1] == (out[1] if out else "runs/csbm-l2b")


def test_two_processes_on_one_training_are_told_apart(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def fit(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(fitting, "fit", FIT)
        for resume in ((), ("--resume",)):
            command = [sys.executable, "-m", "ppro", "train", "csbm", *SHORT, "--out", "here"]
            ended = subprocess.run(
                [*command, *resume], capture_output=True, encoding="utf-8", check=False
            )
            assert ended.returncode == 2
            told.append(ended.stderr)
        return FIT(*args, **options)

    monkeypatch.setattr(fitting, "fit", fit)
    ended = ppro("train", "csbm", *SHORT, "--out", "here")
    assert ended.status == 0, ended.err
    assert all("another process trains there now" in text for text in told)
    assert os.listdir(workplace) == ["here"]


def test_the_second_ctrl_c_tells_what_can_be_resumed(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(*args: Any) -> None:
        raise KeyboardInterrupt

    stop_at(monkeypatch, 7, None)
    with monkeypatch.context() as patch:
        patch.setattr("ppro.runs.writing.write_metrics", again)
        cut = ppro("train", "csbm", *SHORT, "--out", "here")
    assert cut.status == 130
    assert cut.err.splitlines()[-1] == (
        "interrupted: the last checkpoint is kept in .here.checkpoint; the same command with "
        "--resume goes on from it"
    )
    with monkeypatch.context() as patch:
        patch.setattr("ppro.insight.tracking.finish", again)
        cut = ppro("train", "csbm", *SHORT, "--out", "here", "--resume")
    assert (cut.status, cut.err.splitlines()[-1]) == (130, "interrupted: the run is saved in here")
    assert os.listdir(workplace) == ["here"]


def full_disk(*args: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["ppro.files.staging.os.fsync", "ppro.runs.place.write_config"])
def test_a_full_disk_is_told_before_training_and_nothing_is_left(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def epoch(*args: Any) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr("ppro.training.trainer.Trainer.epoch", epoch)
    with monkeypatch.context() as patch:
        patch.setattr(where, full_disk)
        ended = ppro("train", "csbm", *SHORT, "--out", "here")
    assert ended.status == 2
    last = ended.err.splitlines()[-1]
    assert ".here.checkpoint: no checkpoint can be written there (No space left on device)" in last
    assert everything(workplace) == set()


def test_a_name_too_long_for_a_checkpoint(ppro: Command, workplace: Path) -> None:
    told = ppro("train", "csbm", *TINY, "--out", "x" * 250).error
    assert "no checkpoint can be written there (File name too long)" in told
    assert everything(workplace) == set()


def test_a_disk_that_fills_up_later_keeps_the_checkpoint_before(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, 7, OSError(28, "No space left on device", "metrics.jsonl"))
    assert ppro("train", "csbm", *SHORT, "--out", "here").status == 2
    assert ppro("train", "csbm", *SHORT, "--out", "here", "--resume").status == 0
    assert ppro("train", "csbm", *SHORT, "--out", "whole").status == 0
    assert bits(workplace / "here") == bits(workplace / "whole")


def test_a_run_that_cannot_be_written_is_not_lost(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("ppro.runs.writing.write_nodes", full_disk)
        ended = ppro("train", "csbm", *SHORT, "--out", "here")
    assert ended.status == 2
    assert ended.err.splitlines()[-1] == (
        "error: here: cannot be written (No space left on device); "
        "make room there or choose another --out"
    )
    assert os.listdir(workplace) == [".here.checkpoint"]

    def epoch(*args: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr("ppro.training.trainer.Trainer.epoch", epoch)
    assert ppro("train", "csbm", *SHORT, "--out", "here", "--resume").status == 0
    assert os.listdir(workplace) == ["here"]


def test_the_seconds_between_checkpoints_reach_the_training(
    ppro: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Checkpointing] = []

    def fit(*args: Any, checkpoint: Checkpointing, **options: Any) -> Any:
        plans.append(checkpoint)
        return FIT(*args, **options)

    monkeypatch.setattr(fitting, "fit", fit)
    assert ppro("train", "csbm", *TINY).status == 0
    assert ppro("train", "csbm", *TINY, "--checkpoint-every", "60").status == 0
    assert [plan.every for plan in plans] == [10.0, 60.0]
