from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from ppro.cli import main

_REAL_DATA = os.environ.get("PPRO_DATA")
QUICK = ("--set", "epochs=5", "--runs", "2")


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status and what it printed."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The text of the one-line error that the command ended with."""
        assert self.status == 2, self
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("error: ").rstrip("\n")


Command = Callable[..., Ended]


@pytest.fixture(autouse=True)
def workplace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in; no data folder, an empty cache, one thread."""
    place = tmp_path / "räum lich"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.delenv("PPRO_DATA", raising=False)
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("COLUMNS", "80")
    for colourful in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(colourful, raising=False)
    return place


@pytest.fixture
def real_data() -> str:
    if not _REAL_DATA:
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
    return str(Path(_REAL_DATA).absolute())


@pytest.fixture
def ppro(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line inside this process."""

    def run(*words: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ppro", *map(str, words)])
        threads = torch.get_num_threads()
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        torch.set_num_threads(threads)
        printed = capsys.readouterr()
        # Typer looks for FORCE_COLOR when it is imported, before any fixture can hide it.
        out, err = (re.sub(r"\x1b\[[\d;?]*\w", "", text) for text in printed)
        return Ended(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def real_ppro() -> Command:
    """Runs the command line as a process of its own."""

    def run(*words: str, env: Mapping[str, str] | None = None) -> Ended:
        command = [sys.executable, "-m", "ppro", *words]
        ended = subprocess.run(
            command, capture_output=True, encoding="utf-8", env={**os.environ, **(env or {})}
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def everything(folder: Path) -> set[str]:
    """The names of all files and folders below a folder, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
