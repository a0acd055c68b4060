"""Run cases, each in a process forked from one that has imported everything already."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from ppro.cli import main
from ppro.errors import PProError
from tests.hostile.case import LOAD, Case

SECONDS, BYTES, FACTOR = 30.0, 2 * 2**30, 10
"""What a case may take: time; and memory, so much or so many times its files."""
FILE_BYTES = 2**30
"""The largest file that a case may write."""


@dataclass(frozen=True)
class Ended:
    """How a case ended."""

    case: Case
    status: int
    seconds: float
    memory: int
    size: int
    err: str

    @property
    def problem(self) -> str:
        """What is wrong with how it ended; empty where nothing is."""
        if self.seconds > SECONDS:
            return f"took {self.seconds:.0f} s"
        if self.memory > max(BYTES, FACTOR * self.size):
            return f"took {self.memory / 2**30:.1f} GiB for {self.size:,} bytes"
        if "Traceback" in self.err or "unexpected " in self.err:
            return "an error that nobody foresaw"
        if self.status not in (0, 2):
            return f"exit code {self.status}"
        # The command-line library frames its own remarks on options.
        if self.status == 2 and "─" not in self.err and not self._is_one_line():
            return "more than one line"
        return ""

    def _is_one_line(self) -> bool:
        return len([line for line in self.err.splitlines() if line.startswith("error: ")]) == 1


def run(case: Case, folder: Path) -> Ended:
    """Make the files of a case in an empty folder and run its command there."""
    folder.mkdir(parents=True)
    words = case.make(folder)
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    log, start = folder.parent / f"{folder.name}.log", time.monotonic()
    child = os.fork()
    if child == 0:
        _become(case, folder, words, log)
    status, memory = _waited(child, start)
    err = log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"\npeak (\d+)\n", err)
    peak = int(found[1]) if found else memory
    seconds = time.monotonic() - start
    return Ended(case, status, seconds, peak, size, re.sub(r"\npeak \d+\n", "", err))


def _waited(child: int, start: float) -> tuple[int, int]:
    while time.monotonic() - start < SECONDS + 2:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def _become(case: Case, folder: Path, words: tuple[str, ...], log: Path) -> None:
    """Be the command, in the process that has just been forked; never returns."""
    code = 1
    try:
        os.chdir(folder)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, target in ((0, nothing), (1, nothing), (2, output)):
            os.dup2(target, number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(n, m) for n, m in ((0, "r"), (1, "w"), (2, "w"))
        )
        os.environ.pop("PPRO_DATA", None)
        os.environ.update({"PPRO_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"})
        os.environ.update(case.env)
        torch.set_num_threads(1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = _kib("VmRSS")
        sys.argv = ["ppro", *words]
        try:
            _loaded(words[1]) if words[0] == LOAD else main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(2, f"\npeak {1024 * max(0, _kib('VmHWM') - before)}\n".encode())
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(code)


def _loaded(folder: str) -> None:
    """Open a run folder as an estimator, with errors told as the command line tells them."""
    try:
        import ppro

        ppro.load(folder)
    except PProError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def _kib(key: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"{key}:\s+(\d+)", text)
    return int(found[1]) if found else 0
