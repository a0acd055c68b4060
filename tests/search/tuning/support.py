"""A small search, and workers of it as processes of their own that can be killed."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.data import load_graph, make_splits
from ppro.search.tuning.session import Session, Wishes
from ppro.search.tuning.study import WORKER
from ppro.search.tuning.subject import Subject
from ppro.settings.recipe import Recipe
from ppro.settings.settings import Settings
from ppro.training.trainer import OnEpoch

# A server that has imported PyTorch and Optuna once and forks itself.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.search.tuning.support"])
if (ROOT := str(Path(__file__).parents[3])) not in sys.path:
    sys.path.append(ROOT)

SPLIT = "random-60-20-20"
FIXED = {"epochs": 3, "hidden": 8, "controller_units": 8}
TRIALS, BATCH = 15, 3


def subject(runs: int = 2, **fixed: Any) -> Subject:
    """A search of L2B on a tiny generated graph."""
    graph = load_graph("csbm", options={"nodes": 60, "classes": 2, "features": 16})
    splits = make_splits(graph, "csbm", SPLIT, runs, 1000)
    fixed = {**FIXED, **fixed}
    recipe = Recipe(dataset="csbm", split=SPLIT, settings=Settings(**fixed))
    return Subject(graph, splits, recipe, fixed)


def session(
    folder: Path, *, storage: str | None = None, about: Subject | None = None, **more: Any
) -> Session:
    """A worker of the study "small" in a folder."""
    wishes: dict[str, Any] = {"trials": TRIALS, "batch": BATCH, **more}
    storage = storage or str(folder / "small.journal")
    torch.set_num_threads(1)
    return Session(
        about or subject(),
        Wishes("small", storage, folder / "small", folder / "best.toml", **wishes),
        torch.device("cpu"),
    )


@contextmanager
def unwatched() -> Iterator[OnEpoch]:
    yield lambda done, metrics, going: None


def finish(worker: Session) -> list[str]:
    """Work until there is nothing left; returns what was told."""
    told: list[str] = []
    assert worker.run(told.append, unwatched)
    return told


def states(worker: Session) -> dict[str, int]:
    """How many trials are in which state."""
    found: dict[str, int] = {}
    for trial in worker.study.study.get_trials(deepcopy=False):
        found[trial.state.name] = found.get(trial.state.name, 0) + 1
    return found


def tried(worker: Session) -> list[str]:
    """The configurations that have a result."""
    trials = worker.study.study.get_trials(deepcopy=False)
    return [repr(t.params) for t in trials if t.state.name in ("COMPLETE", "PRUNED")]


def wait_until_its_death_is_known(worker: Session) -> None:
    """A server may take a moment to see that the connection of a killed worker is gone."""
    study, end = worker.study, time.monotonic() + 60
    owners = {t.user_attrs[WORKER] for t in study.study.get_trials() if t.state.name == "RUNNING"}
    while time.monotonic() < end:
        with study.guard.exclusive():
            if not all(study.guard.is_alive(owner) for owner in owners):
                return
        time.sleep(0.02)
    raise AssertionError("all are alive")


class Worker:
    """A worker as a process; one that hangs does so in the middle of its first batch."""

    def __init__(self, folder: Path, storage: str | None, *, hangs: bool = False) -> None:
        self._inside = SERVER.Event()
        self._process = SERVER.Process(target=_work, args=(folder, storage, self._inside, hangs))
        self._process.start()

    def wait_until_it_trains(self) -> None:
        assert self._inside.wait(60)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL

    def end(self) -> None:
        self._process.join(60)
        assert self._process.exitcode == 0


def _work(folder: Path, storage: str | None, inside: Event, hangs: bool) -> None:
    @contextmanager
    def watch() -> Iterator[OnEpoch]:
        def on_epoch(done: int, metrics: Tensor, going: int) -> None:
            inside.set()
            if hangs:
                time.sleep(600)

        yield on_epoch

    worker = session(folder, storage=storage)
    worker.run(lambda line: None, watch)
    worker.place.guard.close()
