"""``python -m tests.hostile.faults``: kill -9 and full disks at random moments, then the end.

Whatever happened before, the same command in the end comes to the same bytes as one that was never
disturbed, no folder appears elsewhere, and nothing that was being written is left behind.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from ppro.cli import main as ppro

SMALL = ("csbm", "--option", "nodes=60", "--option", "features=8")
SHORT = ("--set", "epochs=60", "--set", "hidden=8", "--runs", "2", "--threads", "1")


@dataclass(frozen=True)
class Task:
    """A command that can be begun again after any fault.

    Args:
        words: without ``ppro``.
        again: the command that goes on after a fault.
        results: what must be the same bytes in the end.
    """

    words: tuple[str, ...]
    again: tuple[str, ...]
    results: tuple[str, ...]


RUN = tuple(
    f"run/{n}" for n in ("settings.toml", "metrics.jsonl", "weights.safetensors", "nodes.csv")
)
TRAIN = ("train", *SMALL, *SHORT, "--out", "run", "--checkpoint-every", "0")
TASKS: dict[str, Task] = {
    "train": Task(TRAIN, TRAIN, RUN),
    "report": Task(
        ("report", "done", "--out", "r.html"), ("report", "done", "--out", "r.html"), ("r.html",)
    ),
    "tune": Task(
        *2
        * (("tune", *SMALL, "--trials", "2", "--seeds", "1", "--set", "epochs=8", "--study", "s"),),
        (),
    ),
}


def child(words: tuple[str, ...], folder: Path, before: Callable[[], None] | None = None) -> int:
    """Start a command in a process forked from this one; returns its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        os.chdir(folder)
        nothing, log = (
            os.open(os.devnull, os.O_RDWR),
            os.open("../log", os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        )
        for at, target in ((0, nothing), (1, nothing), (2, log)):
            os.dup2(target, at)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        torch.set_num_threads(1)
        if before is not None:
            before()
        sys.argv = ["ppro", *words]
        ppro()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def ended(number: int) -> int:
    """Wait for a process; returns its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def kill(task: Task, folder: Path, chance: random.Random) -> bool:
    """Kill a command after a while; tells whether it was still at work."""
    words = task.words if chance.random() < 0.5 else task.again
    number = child(_going_on(words, folder), folder)
    time.sleep(chance.uniform(0, 0.6))
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)
    return ended(number) == -signal.SIGKILL


def fill(task: Task, folder: Path, chance: random.Random) -> bool:
    """Run a command on a disk that is full, or turns full; tells whether it was refused."""
    most = int(10 ** chance.uniform(0, 6))

    def limit() -> None:
        # A file that would grow beyond this cannot be written: "File too large" stands for "full".
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    status = ended(child(_going_on(task.words, folder), folder, limit))
    assert status in (0, 2), f"exit code {status}"
    return status == 2


def _going_on(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return a command that begins a training, or goes on with what is there."""
    saved = (folder / ".run.checkpoint" / "part-0.safetensors").exists()
    return (*words, "--resume") if words[0] == "train" and saved else words


def finish(task: Task, folder: Path) -> dict[str, bytes]:
    """Run a command to its end, undisturbed; returns what it came to."""
    if not task.results or not _is_done(task, folder):
        status = ended(child(_going_on(task.again, folder), folder))
        assert status == 0, (folder.parent / "log").read_text(encoding="utf-8")[-2000:]
    left = [p for p in folder.rglob("*") if p.name.startswith(".ppro-") or ".checkpoint" in p.name]
    assert not left, left
    return {name: (folder / name).read_bytes() for name in task.results}


Fault = Callable[[Task, Path, random.Random], bool]


def campaign(name: str, faults: int, how: Fault, seed: int) -> int:
    """Disturb a command so many times, one to three times each before it may end."""
    task, hits, place = TASKS[name], 0, 0
    with tempfile.TemporaryDirectory(prefix="faults-") as root:
        whole_folder = Path(root) / "whole" / "work"
        whole_folder.mkdir(parents=True)
        if name == "report":
            _done(whole_folder)
        ready = shutil.copytree(whole_folder, Path(root) / "ready")
        whole, allowed = finish(task, whole_folder), _names(whole_folder)
        while hits < faults:
            chance = random.Random(f"{seed}-{name}-{place}")
            folder = shutil.copytree(ready, Path(root) / str(place) / "work")
            for _ in range(chance.randint(1, 3)):
                if not task.results or not _is_done(task, folder):
                    hits += how(task, folder, chance)
            assert finish(task, folder) == whole, f"{name}: other bytes at place {place}"
            extra = _names(folder) - allowed
            assert not extra, f"{name}: {extra}"
            shutil.rmtree(folder.parent)
            place += 1
    return hits


def _is_done(task: Task, folder: Path) -> bool:
    return all((folder / name).exists() for name in task.results)


def _done(folder: Path) -> None:
    words = ("train", *SMALL, "--set", "epochs=3", "--runs", "1", "--threads", "1", "--out", "done")
    assert ended(child(words, folder)) == 0


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def main() -> None:
    """Run both campaigns over all commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--full", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for name, share in (("train", 0.6), ("report", 0.2), ("tune", 0.2)):
        killed = campaign(name, round(share * chosen.kills), kill, chosen.seed)
        filled = campaign(name, round(share * chosen.full), fill, chosen.seed)
        print(
            f"{name}: {killed} times killed, {filled} times without room, the same end", flush=True
        )


if __name__ == "__main__":
    main()
