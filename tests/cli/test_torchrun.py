"""``torchrun -m ppro train``: one run folder, one voice, and an end when a rank dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command, everything
from tests.cli.test_own_graph_docs import blocks, commands

PAGE = (Path(__file__).parents[2] / "docs/distributed.md").read_text(encoding="utf-8")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone")
SMALL = ("--option", "nodes=150", "--option", "features=20", "--runs", "2")


def torchrun(*words: str, ranks: int = 2) -> subprocess.Popen[str]:
    command = [*TORCHRUN, f"--nproc-per-node={ranks}", "-m", "ppro", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def metrics(run: Path) -> list[dict[str, float]]:
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]


def test_the_commands_of_the_page_write_the_folder_that_one_process_writes(
    ppro: Command, workplace: Path
) -> None:
    (code,) = [code for kind, code in blocks(PAGE) if kind == "sh"]
    (_, *generate), (_, *launch) = commands(code)
    words = (*launch[launch.index("ppro") + 1 :], "--set", "epochs=8", "--json")
    assert launch[:3] == ["--standalone", "--nproc-per-node", "2"]
    assert ppro(*generate).status == 0
    job = torchrun(*words, "--out", "shared")
    out, err = job.communicate(timeout=120)
    assert job.returncode == 0, err
    assert json.loads(out)["out"] == "shared"
    assert err.count("big: 2,000 nodes") == 1
    assert ppro(*words, "--out", "alone").status == 0
    shared, alone = workplace / "shared", workplace / "alone"
    assert everything(shared) == everything(alone)
    assert {path.name for path in workplace.iterdir()} == {"big", "shared", "alone"}
    for one, other in zip(metrics(shared), metrics(alone), strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)
    tables = [
        np.loadtxt(run / "nodes.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2, 4))
        for run in (shared, alone)
    ]
    assert (tables[0] == tables[1]).mean() > 0.999


def test_the_program_of_the_page_runs(workplace: Path) -> None:
    (code,) = [code for kind, code in blocks(PAGE) if kind == "python"]
    (workplace / "shared.py").write_text(code, encoding="utf-8")
    ended = subprocess.run(
        [*TORCHRUN, "--nproc-per-node=2", "shared.py"], capture_output=True, encoding="utf-8"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("tensor(") == 1


def test_when_a_rank_dies_the_others_say_so_and_the_run_goes_on(
    ppro: Command, workplace: Path
) -> None:
    words = ("train", "csbm", *SMALL, "--set", "epochs=200", "--set", "patience=200")
    job = torchrun(*words, "--out", "run", "--checkpoint-every", "0", "--partition", "contiguous")
    saved = workplace / ".run.checkpoint" / "part-0.safetensors"
    begun = 0.0
    for _ in range(1200):
        if saved.exists():
            begun = begun or saved.stat().st_mtime
            if saved.stat().st_mtime > begun:
                break
        time.sleep(0.05)
    listed = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text(encoding="ascii")
    os.kill(int(listed.split()[-1]), signal.SIGKILL)
    killed = time.monotonic()
    _, err = job.communicate(timeout=60)
    assert job.returncode != 0
    assert time.monotonic() - killed < 20, err
    (told,) = errors(err)
    assert "another rank has died" in told
    assert "--resume" in told
    assert saved.exists()
    assert not (workplace / "run").exists()
    ended = ppro(*words, "--out", "run", "--resume")
    assert ended.status == 0, ended.err
    assert len(metrics(workplace / "run")) == 400
    assert not saved.parent.exists()


def test_an_error_is_told_once(workplace: Path) -> None:
    taken = workplace / "taken"
    taken.mkdir()
    (taken / "file").touch()
    job = torchrun("train", "csbm", *SMALL, "--set", "epochs=5", "--out", "taken")
    _, err = job.communicate(timeout=120)
    assert job.returncode != 0
    assert errors(err) == ["error: taken: already exists; choose another --out or remove it"]
