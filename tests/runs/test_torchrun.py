"""A process among several that torchrun has started: who it is, and who reports an error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest
import torch
from torch._C._distributed_c10d import TCPStore

from ppro.runs import torchrun
from ppro.runs.torchrun import device_here, is_follower, is_one_of_several, ranks_of_job

NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    torchrun.reports_errors.cache_clear()
    yield
    torchrun.reports_errors.cache_clear()


@pytest.mark.parametrize(
    ("said", "several", "follows"),
    [
        ({}, False, False),
        ({"WORLD_SIZE": "2"}, False, False),
        ({"RANK": "0", "WORLD_SIZE": "1"}, False, False),
        ({"RANK": "0", "WORLD_SIZE": "2"}, True, False),
        ({"RANK": "1", "WORLD_SIZE": "2"}, True, True),
    ],
    ids=str,
)
def test_the_environment_says_who_this_is(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, str], several: bool, follows: bool
) -> None:
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert is_one_of_several() == several
    assert is_follower() == follows
    assert device_here(torch.device("cpu")) == torch.device("cpu")


def test_a_process_alone_has_no_ranks_and_reports_its_errors() -> None:
    with ranks_of_job() as ranks:
        assert ranks is None
    assert torchrun.reports_errors()


def ask_again() -> bool:
    torchrun.reports_errors.cache_clear()
    return torchrun.reports_errors()


def test_of_several_the_first_to_ask_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", str(store.port))
    assert torchrun.reports_errors()
    # Whoever asks twice hears the same; another process does not.
    assert torchrun.reports_errors()
    assert not ask_again()
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert ask_again()


@pytest.mark.parametrize("port", [None, "no number", "1"])
def test_where_nobody_can_be_asked_everybody_reports(
    monkeypatch: pytest.MonkeyPatch, port: str | None
) -> None:
    monkeypatch.setattr(torchrun, "PATIENCE", timedelta(milliseconds=200))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    if port is not None:
        monkeypatch.setenv("MASTER_PORT", port)
    assert torchrun.reports_errors()


def test_a_process_that_leaves_has_said_everything() -> None:
    code = "from ppro.runs.torchrun import leave\nimport sys\n"
    code += "print('out', end='')\nprint('err', end='', file=sys.stderr)\nleave(3)\n"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "out", "err")
